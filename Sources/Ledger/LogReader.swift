import Core
import JSON
import Postgres
import SQL
import Synchronization
import Telemetry
import Threading

/// Tells the subscribers what every instance has appended, by asking the database again and again.
///
/// It asks for the shards whose head is not where a subscriber has heard of it, with the events between:
/// nothing has happened means no row. Nothing is left out: what does not fit into one look comes with the
/// next. A head that lies before what is known, or a connection that had to be made anew, may mean
/// another log: then all begin anew at its end.
struct LogReader: ~Copyable {
    /// Events of one shard that are read at a time.
    private static let pageLimit: Int64 = 500

    private let subscriptions: Subscriptions
    private let log: Log
    private let isAnother = AtomicFlag()
    private let known: KnownLog
    /// Those who have begun with this log.
    private var begun: Set<ObjectIdentifier> = []
    private var link: Link

    init(
        _ subscriptions: Subscriptions, settings: LedgerSettings, known: KnownLog,
        greet: @escaping Greeting, log: Log
    ) {
        self.subscriptions = subscriptions
        self.log = log
        self.known = known
        link = Link(settings.connection) {
            [isAnother] connection, isFirst throws(PostgresError) in
            try greet(&connection, isFirst)
            if isFirst { return }
            log.info("log_found_again")
            isAnother.raise()
        }
    }

    /// Reads until `pause` says that it is over; it is told whether there is more.
    mutating func run(pause: (_ isMore: Bool) -> Bool) {
        var told: String?
        var isMore = false
        repeat {
            do throws(LedgerError) {
                isMore = try !look()
                told = nil
            } catch {
                isMore = false
                // The watch logs that the database cannot be reached.
                if !error.isPassing, told != error.description {
                    told = error.description
                    log.error("not_followed", ["reason": .string(error.description)])
                }
            }
        } while pause(isMore)
    }

    /// Reads what is new; false when there is more.
    private mutating func look() throws(LedgerError) -> Bool {
        let askedAt = monotonicMilliseconds()
        let listeners = subscriptions.listeners
        if listeners.contains(where: { !begun.contains(ObjectIdentifier($0.subscriber)) }) {
            try begin(listeners, askedAt: askedAt)
            return true
        }
        let heard = listeners.map(\.subscriber.heard)
        let stretches = try stretches(behind: heard)
        // Where nothing follows on what is known, the log is another one, too.
        if isAnother.lower() || stretches.values.contains(where: \.isEmpty) {
            begun = []
            return false
        }
        var isComplete = true
        for (listener, heard) in zip(listeners, heard) {
            let own = Shard.all.compactMap { shard in
                stretches[Position(shard: shard, sequence: heard[Int(shard.number)])]
            }
            let isWhole = own.allSatisfy(\.isComplete)
            let news = LogNews(own.map(\.change), askedAt: askedAt, isComplete: isWhole)
            listener.subscriber.hear(news, since: listener.moment)
            isComplete = isComplete && isWhole
        }
        return isComplete
    }

    /// Has all who have not begun with this log begin at its end.
    private mutating func begin(
        _ listeners: [Subscriptions.Listener], askedAt: Int64
    ) throws(LedgerError) {
        let marks = try link.settled { connection throws(LedgerError) in
            try connection.shardMarks()
        }
        known.note(marks)
        let heads = marks.map(\.head)
        if isAnother.lower() { begun = [] }
        for listener in listeners
        where begun.insert(ObjectIdentifier(listener.subscriber)).inserted {
            listener.subscriber.restart(at: heads, askedAt: askedAt)
        }
    }

    /// What is new of each shard behind where subscribers have heard of it. Most are abreast.
    private mutating func stretches(
        behind heard: [[Int64]]
    ) throws(LedgerError) -> [Position: Stretch] {
        var known = Set<Position>()
        for sequences in heard {
            for (shard, sequence) in zip(Shard.all, sequences) {
                known.insert(Position(shard: shard, sequence: sequence))
            }
        }
        let call = Statement.followShards(
            .int2s(known.map(\.shard.number)), .int8s(known.map(\.sequence)),
            .int8(LogReader.pageLimit))
        var stretches: [Position: Stretch] = [:]
        var marks: [ShardMark] = []
        let (log, isAnother) = (log, isAnother)
        try link.settled { connection throws(LedgerError) in
            try connection.read([call]) { _, rows throws(LedgerError) in
                for row in 0..<rows.count {
                    let known = Position(
                        shard: Shard(number: rows.int2(row, 0)), sequence: rows.int8(row, 1))
                    let head = rows.int8(row, 2)
                    try stretches[known, default: Stretch(after: known, head: head)]
                        .add(rows, row)
                    if marks.last?.shard == known.shard { continue }
                    marks.append(
                        ShardMark(shard: known.shard, head: head, chain: rows.bytes(row, 9)))
                }
            }
            // A server that was just met, and taken all the same, is one whose losses were accepted.
            if !isAnother.isRaised, let shrunk = stretches.values.first(where: \.isShrunk) {
                shrunk.tellOfShrinking(to: log)
                throw .logShrunk
            }
        }
        self.known.note(marks)
        return stretches
    }
}

/// Raised on one thread and lowered on another.
private final class AtomicFlag: Sendable {
    private let flag = Atomic(false)

    var isRaised: Bool { flag.load(ordering: .acquiring) }

    func raise() { flag.store(true, ordering: .releasing) }

    /// Whether it was raised.
    func lower() -> Bool { flag.exchange(false, ordering: .acquiringAndReleasing) }
}

/// What one look has found of one shard.
private struct Stretch {
    let known: Position
    let head: Int64
    private var last: Int64
    private var subjects: [ShardChange.Subject: Int64] = [:]

    init(after known: Position, head: Int64) {
        self.known = known
        self.head = head
        last = known.sequence
    }

    mutating func add(_ rows: borrowing Rows, _ row: Int) throws(LedgerError) {
        if rows.isNull(row, 3) { return }
        last = rows.int8(row, 3)
        let stream = try Stream(
            project: rows.text(row, 4), environment: rows.text(row, 5),
            customer: rows.text(row, 6))
        let subject = ShardChange.Subject(
            stream, type: rows.text(row, 8), version: rows.int8(row, 7))
        subjects[subject] = last
    }

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
