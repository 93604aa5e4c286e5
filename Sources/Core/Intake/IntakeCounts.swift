/// How much evidence is waiting in the queue.
package struct IntakeCounts: Hashable, Sendable {
    package var waiting: Int64 = 0
    /// How many pieces of evidence have been tried often enough that an operator should look at them.
    package var alarming: Int64 = 0
    /// When the oldest waiting piece was added.
    package var oldest: Instant?

    package init() {}
}
