import Core
import JSON
import Postgres
import SQL
import Telemetry
import Threading

/// Tells the follower what every instance has appended, by asking the database again and again.
///
/// It asks for the shards whose head is not the known one, with the events between: nothing has
/// happened means no row. A head that lies before what is known, or a connection that had to be
/// made anew, may mean another log: then the follower forgets everything.
struct Tail: ~Copyable {
    /// Events of one shard that are read at a time.
    private static let pageLimit: Int64 = 500
    /// Of a shard that is further behind, no event is read: whatever is kept of it is let go.
    private static let gapLimit: Int64 = 5000

    private let follower: Follower
    private let log: Log
    private var link: Link

    init(_ follower: Follower, settings: LedgerSettings, log: Log) {
        self.follower = follower
        self.log = log
        link = Link(settings.connection) {
            log.info("log_found_again")
            follower.forget()
        }
    }

    /// Follows until `pause` says that it is over.
    mutating func run(pause: () -> Bool) {
        var told: String?
        repeat {
            do throws(LedgerError) {
                // What is left is read after the pause, lest nobody could end this.
                _ = try look()
                told = nil
            } catch {
                // The watch logs that the database cannot be reached.
                if !error.isPassing, told != error.description {
                    told = error.description
                    log.error("not_followed", ["reason": .string(error.description)])
                }
            }
        } while pause()
    }

    /// Reads what is new; false when there is more.
    private mutating func look() throws(LedgerError) -> Bool {
        let askedAt = monotonicMilliseconds()
        let epoch = follower.epoch()
        let applied = follower.applied()
        var stretches: [Shard: Stretch] = [:]
        let call = Statement.followShards(
            .int2s(Shard.all.map(\.number)), .int8s(applied), .int8(Tail.pageLimit),
            .int8(Tail.gapLimit))
        try link.settled { connection throws(LedgerError) in
            try connection.read([call]) { _, rows throws(LedgerError) in
                for row in 0..<rows.count {
                    let shard = Shard(number: rows.int2(row, 0))
                    let known = applied[Int(shard.number)]
                    let head = rows.int8(row, 1)
                    try stretches[shard, default: Stretch(shard, after: known, head: head)]
                        .add(rows, row)
                }
            }
        }
        if let shrunk = stretches.values.first(where: \.isShrunk) {
            log.warning(
                "log_shrunk",
                [
                    "shard": .integer(Int(shrunk.shard.number)), "head": .integer(shrunk.head),
                    "known": .integer(shrunk.known),
                ])
            follower.forget()
            return true
        }
        let isComplete = stretches.values.allSatisfy(\.isComplete)
        follower.followed(stretches.values.map(\.change), askedAt, isComplete, epoch)
        return isComplete
    }
}

/// What one look has found of one shard.
private struct Stretch {
    let shard: Shard
    let known: Int64
    let head: Int64
    private var last: Int64
    private var changes: [ShardChange.Subject: Int64] = [:]

    init(_ shard: Shard, after known: Int64, head: Int64) {
        self.shard = shard
        self.known = known
        self.head = head
        last = known
    }

    mutating func add(_ rows: borrowing Rows, _ row: Int) throws(LedgerError) {
        if rows.isNull(row, 2) { return }
        last = rows.int8(row, 2)
        let stream = try Stream(
            project: rows.text(row, 3), environment: rows.text(row, 4),
            customer: rows.text(row, 5))
        let subject = ShardChange.Subject(
            stream, type: rows.text(row, 7), version: rows.int8(row, 6))
        changes[subject] = last
    }

    var isShrunk: Bool { head < known }
    /// Too much is new to look at it.
    private var isSkipped: Bool { last == known }
    var isComplete: Bool { isSkipped || last == head }

    var change: ShardChange {
        if isSkipped { return ShardChange(shard, (known + 1)...head, .anything) }
        return ShardChange(
            shard, (known + 1)...last, .these(changes.map { ShardChange.Change($0, at: $1) }))
    }
}
