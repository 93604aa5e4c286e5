/// Allows one instance to do something for all instances until the lease ends.
package struct Lease: Hashable, Sendable {
    package let name: String
    /// Increases each time the lease is taken. It identifies an earlier holder, who may no longer
    /// write.
    package let fence: Int64

    package init(name: String, fence: Int64) {
        self.name = name
        self.fence = fence
    }
}
