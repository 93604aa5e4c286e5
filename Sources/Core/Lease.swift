/// That one instance does something for all of them, until the lease ends.
package struct Lease: Hashable, Sendable {
    package let name: String
    /// One more with each taking: an earlier holder is known by it, and may write nothing more.
    package let fence: Int64

    package init(name: String, fence: Int64) {
        self.name = name
        self.fence = fence
    }
}
