import Core
import Following
import JSON
import Postgres
import SQL
import Telemetry

/// One look at what follows on places that are known. Nothing is left out: what does not fit comes with the
/// next look.
struct LogLook {
    /// Events of one shard that are read at a time.
    private static let pageLimit: Int64 = 500

    /// By the places that are not where their shard ends.
    private(set) var stretches: [Position: Stretch] = [:]
    private(set) var marks: [ShardMark] = []

    /// Asks for the shards whose head is not at a known place, with the events between: nothing has happened
    /// means no row.
    static func call(behind known: Set<Position>) -> Call {
        Statement.followShards(
            .int2s(known.map(\.shard.number)), .int8s(known.map(\.sequence)), .int8(pageLimit))
    }

    mutating func add(_ rows: borrowing Rows, _ row: Int) throws(LedgerError) {
        let known = Position(shard: Shard(number: rows.int2(row, 0)), sequence: rows.int8(row, 1))
        let head = rows.int8(row, 2)
        try stretches[known, default: Stretch(after: known, head: head)].add(rows, row)
        if marks.last?.shard == known.shard { return }
        marks.append(ShardMark(shard: known.shard, head: head, chain: rows.bytes(row, 9)))
    }
}

/// What one look has found of one shard.
struct Stretch {
    let known: Position
    let head: Int64
    private var last: Int64
    private var subjects: [ShardChange.Subject: Int64] = [:]

    fileprivate init(after known: Position, head: Int64) {
        self.known = known
        self.head = head
        last = known.sequence
    }

    fileprivate mutating func add(_ rows: borrowing Rows, _ row: Int) throws(LedgerError) {
        if rows.isNull(row, 3) { return }
        last = rows.int8(row, 3)
        let stream = try Stream(
            project: rows.text(row, 4), environment: rows.text(row, 5),
            customer: rows.text(row, 6))
        let subject = ShardChange.Subject(
            stream, type: rows.text(row, 8), version: rows.int8(row, 7))
        subjects[subject] = last
    }

    /// Whether the log ends before what is known.
    var isShrunk: Bool { head < known.sequence }
    var isEmpty: Bool { last == known.sequence }
    var isComplete: Bool { last == head }

    func tellOfShrinking(to log: Log) {
        log.warning(
            "log_shrunk",
            [
                "shard": .integer(Int(known.shard.number)),
                "head": .integer(head), "known": .integer(known.sequence),
            ])
    }

    var change: ShardChange {
        ShardChange(known.shard, (known.sequence + 1)...last, subjects)
    }
}
