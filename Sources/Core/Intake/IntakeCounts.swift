/// How much evidence waits in the queue.
package struct IntakeCounts: Hashable, Sendable {
    package var waiting: Int64 = 0
    /// The number of pieces of evidence that an operator should look at after many tries.
    package var alarming: Int64 = 0
    /// When the oldest waiting piece was added.
    package var oldest: Instant?

    package init() {}
}
