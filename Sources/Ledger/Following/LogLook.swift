import Core
import Following
import Postgres
import SQL
import Threading

/// One query for the events after the places of several readers. The next query returns events beyond the limit.
struct LogLook {
    private struct Wanted: Hashable {
        let interest: Interest
        let place: Position
    }
    private struct Found {
        let head: Int64
        var events: [LoggedEvent] = []
        /// The number of rows, and the position of the last row, readable or not.
        var rows = 0
        var last: Int64?
    }
    let askedAt = monotonicMilliseconds()
    /// The distinct places. Most readers are at the same one.
    private var wanted: [Wanted] = []
    /// For each reader, the numbers of its places, starting at 1.
    private var numbers: [[Int]] = []
    /// The events found, by the number of their place.
    private var found: [Int: Found] = [:]
    /// Skipped rows, which have no valid stream name.
    private var unread: [(subject: UnreadSubject, fault: Fault)] = []
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

    /// Queries the database for the events of shards whose heads have moved from a known place. An unchanged shard
    /// returns no row.
    mutating func ask(_ connection: inout Connection) throws(LedgerError) {
        // A broken connection may have interrupted an earlier call.
        found = [:]
        marks = []
        unread = []
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
                var part = found[number] ?? Found(head: mark.head)
                found[number] = nil
                take(rows, row, into: &part)
                found[number] = part
            }
        }
    }

    private mutating func take(_ rows: borrowing Rows, _ row: Int, into found: inout Found) {
        if rows.isNull(row, 4) { return }
        found.rows += 1
        found.last = rows.int8(row, 4)
        do throws(LedgerError) {
            found.events.append(try LoggedEvent(rows, row))
        } catch {
            unread.append((LoggedEvent.subject(rows, row), error.fault))
        }
    }

    /// Records the skipped rows as unreadable.
    func note(in streams: UnreadStreams) {
        for (subject, fault) in unread { streams.note(subject, fault) }
    }

    /// The stretches for each reader.
    var news: [[Stretch]] { numbers.map { $0.compactMap(stretch) } }

    private func stretch(_ number: Int) -> Stretch? {
        guard let found = found[number] else { return nil }
        let (interest, place) = (wanted[number - 1].interest, wanted[number - 1].place)
        let last = found.rows < interest.page ? found.head : found.last ?? found.head
        return Stretch(
            place.shard, after: place.sequence, to: last, found.events,
            isComplete: last == found.head)
    }

    /// A stretch whose end is before its start, if there is one.
    var shrunk: Stretch? { found.keys.lazy.compactMap(stretch).first { $0.end < $0.start } }

    /// Whether this log lacks the known place: the log ends before it, or lacks an event that must follow it.
    var isOfAnotherLog: Bool {
        found.contains { number, found in
            guard let news = stretch(number) else { return false }
            let isDense = Int64(found.rows) == news.end - news.start
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
            let actor = try? Actor(text(.actor))
            let record = EventRecord(
                occurredAt: instant(.occurredAt), recordedAt: instant(.recordedAt),
                actor: actor ?? .unreadable, cause: text(.cause),
                catalogVersion: number(.catalogVersion))
            content = Content(
                record, payload: text(.payload), format: rows.int2(row, Column.format.rawValue),
                chain: rows.bytes(row, Column.chain.rawValue),
                damage: actor == nil ? "the actor of an event" : nil)
        }
        let shard = Shard(number: rows.int2(row, Column.shard.rawValue))
        self.init(
            Position(shard: shard, sequence: number(.seq)),
            of: try Stream(
                project: text(.project), environment: text(.environment),
                customer: text(.customer)),
            version: number(.version), type: text(.type), content: content)
    }

    /// Returns the stream named in the row, exactly as stored.
    fileprivate static func subject(_ rows: borrowing Rows, _ row: Int) -> UnreadSubject {
        UnreadSubject(
            rows.text(row, Column.project.rawValue), rows.text(row, Column.environment.rawValue),
            rows.text(row, Column.customer.rawValue))
    }
}

extension Actor {
    /// Stands in for a damaged actor, because the event itself must still reach readers.
    fileprivate static let unreadable = Actor(prefix: "deed:", random: "unreadable")
}
