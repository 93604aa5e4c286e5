package import Core

/// Reads the log completely and in order within each shard.
///
/// A reader keeps its position in memory. After a restart, it therefore receives again everything
/// that it has not processed.
package protocol LogReader: AnyObject, Sendable {
    var interest: Interest { get }
    /// The position up to which the reader has processed each shard, by shard number.
    var place: [Int64] { get }
    /// A logical clock that advances at least with each restart.
    var moment: Int { get }
    /// Reports a commit by this instance, in any project, before the senders get their replies. The
    /// commit began at `moment` and may have overtaken earlier events.
    func hear(_ commit: Commit, since moment: Int)
    /// Processes events from any instance that follow the reader's position. The events were requested at `moment`,
    /// which was `askedAt` on the monotonic clock.
    func take(_ news: [Stretch], askedAt: Int64, since moment: Int)
    /// Starts again at these heads, because the database may now contain a different log.
    func restart(at heads: [Int64], askedAt: Int64)
}

/// The part of the log in which a reader is interested.
package struct Interest: Hashable, Sendable {
    /// The project of the requested events; `nil` for events in all streams.
    package let project: ProjectID?
    /// Whether events are read with their content.
    package let isWhole: Bool
    /// Whether only customers' events are read with their content. The content of project and
    /// account events can be large.
    package let isOfCustomers: Bool
    /// The maximum number of events that the reader takes from one shard at a time.
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

/// What a commit by this instance wrote, and what it saw of other commits.
package struct Commit: Sendable {
    package let stretches: [Stretch]
    /// Customers who were examined but not changed, each with the last sequence in the shard before
    /// the commit. A caller who learns that there was nothing to do must see that state in the next
    /// read.
    package var unchanged: [(stream: Stream, sequence: Int64)] = []
    /// The versions of the rules on which the decisions were based.
    package var rules: [(project: ProjectID, version: Int64)] = []
    /// Returns the state of a customer whom this commit changed, as it is after the commit.
    package let customer: @Sendable (Stream) -> CustomerSnapshot?

    package init(
        _ stretches: [Stretch], customer: @escaping @Sendable (Stream) -> CustomerSnapshot?
    ) {
        self.stretches = stretches
        self.customer = customer
    }
}
