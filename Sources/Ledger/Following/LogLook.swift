import Core
import Following
import Postgres
import SQL
import Threading

/// One look for events after the places of some readers. Nothing is skipped: what does not fit comes with
/// the next look.
struct LogLook {
    private struct Wanted: Hashable {
        let interest: Interest
        let place: Position
    }
    let askedAt = monotonicMilliseconds()
    /// Each once: most readers are at the same place.
    private var wanted: [Wanted] = []
    /// The numbers of each reader's wanted places, counted from one.
    private var numbers: [[Int]] = []
    /// The events found for each place that has any.
    private var found: [Int: (head: Int64, events: [LoggedEvent])] = [:]
    private(set) var marks: [ShardMark] = []

    init(_ readers: [(interest: Interest, place: [Position])]) {
        var known: [Wanted: Int] = [:]
        for (interest, place) in readers {
            numbers.append(
                place.map { place in
                    let one = Wanted(interest: interest, place: place)
                    if let number = known[one] { return number }
                    wanted.append(one)
                    known[one] = wanted.count
                    return wanted.count
                })
        }
    }

    /// Asks for the shards whose head is not at a known place, with the events between: an unchanged shard
    /// gives no row.
    mutating func ask(_ connection: inout Connection) throws(LedgerError) {
        // The call may be repeated.
        found = [:]
        marks = []
        let call = Statement.followShards(
            .int2s(wanted.map(\.place.shard.number)), .int8s(wanted.map(\.place.sequence)),
            .texts(wanted.map(\.interest.project?.text)), .bools(wanted.map(\.interest.isWhole)),
            .int8s(wanted.map { Int64($0.interest.page) }),
            .bools(wanted.map(\.interest.isOfCustomers)))
        try connection.read([call]) { _, rows throws(LedgerError) in
            for row in 0..<rows.count {
                let number = Int(rows.int8(row, 3))
                let mark = ShardMark(rows, row)
                if found[number] == nil { marks.append(mark) }
                let event = try rows.isNull(row, 4) ? [] : [LoggedEvent(rows, row)]
                found[number, default: (mark.head, [])].events += event
            }
        }
    }

    /// The stretches for each reader.
    var news: [[Stretch]] { numbers.map { $0.compactMap(stretch) } }

    private func stretch(_ number: Int) -> Stretch? {
        guard let (head, events) = found[number] else { return nil }
        let (interest, place) = (wanted[number - 1].interest, wanted[number - 1].place)
        let last = events.count < interest.page ? head : events.last?.position.sequence ?? head
        return Stretch(
            place.shard, after: place.sequence, to: last, events, isComplete: last == head)
    }

    /// A stretch that ends before its start.
    var shrunk: Stretch? { found.keys.lazy.compactMap(stretch).first { $0.end < $0.start } }

    /// Whether the known place is not in this log: the log ends before it, or lacks an event that must
    /// follow.
    var isOfAnotherLog: Bool {
        found.keys.contains { number in
            guard let news = stretch(number) else { return false }
            let isDense = Int64(news.events.count) == news.end - news.start
            return news.end < news.start || wanted[number - 1].interest.project == nil && !isDense
        }
    }
}

extension LoggedEvent {
    private enum Column: Int {
        case shard, head, headChain, number, seq, project, environment, customer, version, type
        case payload, format, chain, occurredAt, recordedAt, actor, cause, catalogVersion
    }

    /// Reads a row of `follow_shards`.
    init(_ rows: borrowing Rows, _ row: Int) throws(LedgerError) {
        func text(_ column: Column) -> String { rows.text(row, column.rawValue) }
        func number(_ column: Column) -> Int64 { rows.int8(row, column.rawValue) }
        func instant(_ column: Column) -> Instant { Instant(milliseconds: number(column)) }
        var content: Content?
        if !rows.isNull(row, Column.payload.rawValue) {
            let record = EventRecord(
                occurredAt: instant(.occurredAt), recordedAt: instant(.recordedAt),
                actor: try identifier(text(.actor)), cause: text(.cause),
                catalogVersion: number(.catalogVersion))
            content = Content(
                record, payload: text(.payload), format: rows.int2(row, Column.format.rawValue),
                chain: rows.bytes(row, Column.chain.rawValue))
        }
        let shard = Shard(number: rows.int2(row, Column.shard.rawValue))
        self.init(
            Position(shard: shard, sequence: number(.seq)),
            of: try Stream(
                project: text(.project), environment: text(.environment),
                customer: text(.customer)),
            version: number(.version), type: text(.type), content: content)
    }
}
