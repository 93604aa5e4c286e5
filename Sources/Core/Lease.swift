/// Lets one instance do something for all of them until it ends.
package struct Lease: Hashable, Sendable {
    package let name: String
    /// Increases with each taking: it identifies an earlier holder, who may write nothing more.
    package let fence: Int64

    package init(name: String, fence: Int64) {
        self.name = name
        self.fence = fence
    }
}
