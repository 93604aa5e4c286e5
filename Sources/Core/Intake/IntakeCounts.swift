/// How much waits in the queue.
package struct IntakeCounts: Hashable, Sendable {
    package var waiting: Int64 = 0
    /// Pieces tried so often that an operator should look.
    package var alarming: Int64 = 0
    /// When the oldest waiting piece was added.
    package var oldest: Instant?

    package init() {}
}
