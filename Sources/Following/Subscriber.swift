/// Who hears of everything that happens to the log: of each shard all of it, and in order.
///
/// It keeps its own place, so that it gets again what it has not taken in.
package protocol Subscriber: AnyObject, Sendable {
    /// Up to where it has heard of each shard, by number of the shard.
    var heard: [Int64] { get }
    /// How far its own clock is; it goes on with each restart at least.
    var moment: Int { get }
    /// Takes in a commit of this instance, before those who asked for it are answered. It was begun at
    /// that moment.
    func hear(_ commit: Commit, since moment: Int)
    /// Takes in what follows on what it has heard, by whichever instance. It was asked for at that
    /// moment.
    func hear(_ news: LogNews, since moment: Int)
    /// Begins again: the log may be another one, and ends there.
    func restart(at heads: [Int64], askedAt: Int64)
}

/// What the database says about the log.
package struct LogNews: Sendable {
    package let changes: [ShardChange]
    /// When the database was asked, on the monotonic clock.
    package let askedAt: Int64
    /// Whether nothing else had happened by then.
    package let isComplete: Bool

    package init(_ changes: [ShardChange], askedAt: Int64, isComplete: Bool) {
        self.changes = changes
        self.askedAt = askedAt
        self.isComplete = isComplete
    }
}
