package import Core

/// Reads the log completely and in order within each shard.
///
/// It keeps its place in memory, so it gets whatever it has not processed again.
package protocol LogReader: AnyObject, Sendable {
    var interest: Interest { get }
    /// The position up to which it has processed each shard, by shard number.
    var place: [Int64] { get }
    /// A logical clock that advances at least at each restart.
    var moment: Int { get }
    /// Reports a commit of this instance, in any project, before its callers are answered. The
    /// commit began at `moment` and may have overtaken events before it.
    func hear(_ commit: Commit, since moment: Int)
    /// Processes events of any instance that follow its place. They were requested at `moment`,
    /// which was `askedAt` on the monotonic clock.
    func take(_ news: [Stretch], askedAt: Int64, since moment: Int)
    /// Starts again at these heads, since the log may be another one.
    func restart(at heads: [Int64], askedAt: Int64)
}

/// What a reader wants from the log.
package struct Interest: Hashable, Sendable {
    /// The project of the wanted events; `nil` for events of all streams.
    package let project: ProjectID?
    /// Whether events come with their content.
    package let isWhole: Bool
    /// Whether content comes with customers' events only: that of projects and accounts can be
    /// large.
    package let isOfCustomers: Bool
    /// How many events of one shard it takes at a time.
    package let page: Int

    package init(
        in project: ProjectID? = nil, isWhole: Bool = false, isOfCustomers: Bool = false,
        page: Int? = nil
    ) {
        self.project = project
        self.isWhole = isWhole
        self.isOfCustomers = isOfCustomers
        self.page = page ?? (isWhole ? 100 : 500)
    }
}

/// What one commit of this instance wrote, and what it saw of other commits.
package struct Commit: Sendable {
    package let stretches: [Stretch]
    /// Customers who were looked at and not changed, with the shard's last sequence before. A
    /// caller who learns that nothing had to be done must find it done.
    package var unchanged: [(stream: Stream, sequence: Int64)] = []
    /// The versions of the rules that the decisions used.
    package var rules: [(project: ProjectID, version: Int64)] = []
    /// A changed customer after the commit.
    package let customer: @Sendable (Stream) -> CustomerSnapshot?

    package init(
        _ stretches: [Stretch], customer: @escaping @Sendable (Stream) -> CustomerSnapshot?
    ) {
        self.stretches = stretches
        self.customer = customer
    }
}
