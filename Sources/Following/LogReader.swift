package import Core

/// Who reads the log from a place in memory: of each shard all of it, and in order.
///
/// It keeps its own place, so that it gets again what it has not taken in.
package protocol LogReader: AnyObject, Sendable {
    var interest: Interest { get }
    /// Up to where it has taken in each shard, by number of the shard.
    var place: [Int64] { get }
    /// How far its own clock is; it goes on with each restart at least.
    var moment: Int { get }
    /// Hears of a commit of this instance, in any project, before its callers are answered.
    /// It was begun at that moment, and may have overtaken what lies before it.
    func hear(_ commit: Commit, since moment: Int)
    /// Takes in what follows on its place, by whichever instance. It was asked for at that moment, which is
    /// that time on the monotonic clock.
    func take(_ news: [Stretch], askedAt: Int64, since moment: Int)
    /// Begins again: the log may be another one, and ends there.
    func restart(at heads: [Int64], askedAt: Int64)
}

/// What a reader wants of the log.
package struct Interest: Hashable, Sendable {
    /// Whose events; `nil`: of all streams.
    package let project: ProjectID?
    /// Whether it wants them with their content.
    package let isWhole: Bool
    /// How many events of one shard it takes at a time.
    package let page: Int

    package init(in project: ProjectID? = nil, isWhole: Bool = false, page: Int? = nil) {
        self.project = project
        self.isWhole = isWhole
        self.page = page ?? (isWhole ? 100 : 500)
    }
}

/// What one commit of this instance wrote, and what it saw of others' commits.
package struct Commit: Sendable {
    package let stretches: [Stretch]
    /// Customers who were looked at and not changed, with the last sequence of the shard before. Who
    /// was told that nothing had to be done must find it done.
    package var unchanged: [(stream: Stream, sequence: Int64)] = []
    /// The versions of the rules by which was decided.
    package var rules: [(project: ProjectID, version: Int64)] = []
    /// A changed customer as the commit left it.
    package let customer: @Sendable (Stream) -> CustomerSnapshot?

    package init(
        _ stretches: [Stretch], customer: @escaping @Sendable (Stream) -> CustomerSnapshot?
    ) {
        self.stretches = stretches
        self.customer = customer
    }
}
