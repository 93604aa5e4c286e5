import Core
import Following
import JSON
import Postgres
import Telemetry
import Threading

/// Polls the database and informs in-memory readers of the events that any instance has appended.
///
/// If a head is before the known place, or the connection is new, the log may be a different one. All readers then
/// restart at its end.
struct Follower: ~Copyable {
    private let readers: LogReaders
    private let log: Log
    private let isAnother = Monitor(false)
    private let known: LogGuard
    private let unread: UnreadStreams
    /// The readers that have already started to read this log.
    private var begun: Set<ObjectIdentifier> = []
    private var link: Link

    init(
        _ readers: LogReaders, settings: LedgerSettings, known: LogGuard,
        unread: UnreadStreams, greet: @escaping Greeting, log: Log
    ) {
        self.readers = readers
        self.log = log
        self.known = known
        self.unread = unread
        link = Link(settings.connection) {
            [isAnother] connection, isFirst throws(PostgresError) in
            try greet(&connection, isFirst)
            if isFirst { return }
            log.info("log_found_again")
            isAnother.change(wake: .none) { $0 = true }
        }
    }

    /// Reads as long as `pause` returns true. The argument of `pause` says whether more events are ready.
    mutating func run(pause: (_ isMore: Bool) -> Bool) {
        var told: String?
        var isMore = false
        repeat {
            do throws(LedgerError) {
                isMore = try !look()
                told = nil
            } catch {
                isMore = false
                // The database watch logs that the database is unreachable.
                if !error.isPassing, told != error.description {
                    told = error.description
                    log.error("not_followed", ["reason": .string(error.description)])
                }
            }
        } while pause(isMore)
    }

    /// Reads new events. Returns false if more events follow.
    private mutating func look() throws(LedgerError) -> Bool {
        let listeners = readers.listeners
        if listeners.contains(where: { !begun.contains(ObjectIdentifier($0.reader)) }) {
            try begin(listeners)
            return true
        }
        var look = LogLook(
            listeners.map { listener in
                let place = zip(Shard.all, listener.reader.place).map(Position.init)
                return (listener.reader.interest, place)
            })
        try ask(&look)
        // A log that does not continue the known one also counts as a different log.
        if mayBeAnother() || look.isOfAnotherLog {
            begun = []
            return false
        }
        look.note(in: unread)
        let news = look.news
        for (listener, news) in zip(listeners, news) {
            listener.reader.take(news, askedAt: look.askedAt, since: listener.moment)
        }
        return news.joined().allSatisfy(\.isComplete)
    }

    private mutating func ask(_ look: inout LogLook) throws(LedgerError) {
        let (log, isAnother, known) = (log, isAnother, known)
        var epoch = 0
        try link.settled { connection throws(LedgerError) in
            epoch = known.epoch
            try look.ask(&connection)
            // If the connection is new, a shorter log was already accepted when it was opened.
            if !isAnother.change(wake: .none, { $0 }), let shrunk = look.shrunk {
                log.warning(
                    "log_shrunk",
                    [
                        "shard": .integer(Int(shrunk.shard.number)),
                        "head": .integer(shrunk.end), "known": .integer(shrunk.start),
                    ])
                throw .logShrunk
            }
        }
        known.note(look.marks, askedIn: epoch)
    }

    /// Returns whether the log may have been replaced by a different one since the last call.
    private func mayBeAnother() -> Bool {
        isAnother.change(wake: .none) { isAnother in
            defer { isAnother = false }
            return isAnother
        }
    }

    /// Starts every reader that has not yet started to read this log, at the log's end.
    private mutating func begin(
        _ listeners: [(reader: any LogReader, moment: Int)]
    ) throws(LedgerError) {
        let askedAt = monotonicMilliseconds()
        var epoch = 0
        let marks = try link.settled { connection throws(LedgerError) in
            epoch = known.epoch
            return try connection.shardMarks()
        }
        known.note(marks, askedIn: epoch)
        if mayBeAnother() { begun = [] }
        for listener in listeners where begun.insert(ObjectIdentifier(listener.reader)).inserted {
            listener.reader.restart(at: marks.map(\.head), askedAt: askedAt)
        }
    }
}
