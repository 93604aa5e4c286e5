/// The right of one instance to do a task on behalf of all instances until the lease ends.
package struct Lease: Hashable, Sendable {
    package let name: String
    /// Increases each time the lease is taken. Earlier holders can thus be recognized and kept from writing.
    package let fence: Int64

    package init(name: String, fence: Int64) {
        self.name = name
        self.fence = fence
    }
}
