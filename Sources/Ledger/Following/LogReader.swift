import Core
import Following
import JSON
import Postgres
import SQL
import Synchronization
import Telemetry
import Threading

/// Tells the subscribers what every instance has appended, by asking the database again and again.
///
/// A head that lies before what is known, or a connection that had to be opened again, may mean
/// another log: then all begin again at its end.
struct LogReader: ~Copyable {
    private let subscribers: LogSubscribers
    private let log: Log
    private let isAnother = AtomicFlag()
    private let known: LogGuard
    /// Those who have begun with this log.
    private var begun: Set<ObjectIdentifier> = []
    private var link: Link

    init(
        _ subscribers: LogSubscribers, settings: LedgerSettings, known: LogGuard,
        greet: @escaping Greeting, log: Log
    ) {
        self.subscribers = subscribers
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

    /// Reads until `pause` says that it is over; `pause` gets whether there is more.
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
        let listeners = subscribers.listeners
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
        _ listeners: [LogSubscribers.Listener], askedAt: Int64
    ) throws(LedgerError) {
        var epoch = 0
        let marks = try link.settled { connection throws(LedgerError) in
            epoch = known.epoch
            return try connection.shardMarks()
        }
        known.note(marks, askedIn: epoch)
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
        var look = LogLook()
        let (log, isAnother, guarded) = (log, isAnother, self.known)
        var epoch = 0
        try link.settled { connection throws(LedgerError) in
            epoch = guarded.epoch
            try connection.read([LogLook.call(behind: known)]) { _, rows throws(LedgerError) in
                for row in 0..<rows.count { try look.add(rows, row) }
            }
            // A server that was just met, and still taken, is one whose losses were accepted.
            if !isAnother.isRaised, let shrunk = look.stretches.values.first(where: \.isShrunk) {
                shrunk.tellOfShrinking(to: log)
                throw .logShrunk
            }
        }
        guarded.note(look.marks, askedIn: epoch)
        return look.stretches
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
