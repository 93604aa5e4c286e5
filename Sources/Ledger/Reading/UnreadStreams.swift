import Core
import JSON
import Synchronization
import Telemetry
import Threading

/// Counts unreadable streams, and logs each with the reason once a minute. Callers are referred to the log.
final class UnreadStreams: Sendable {
    private static let pause: Int64 = 60_000
    /// A stream that was not read for this long no longer counts.
    private static let memory: Int64 = 600_000
    /// Above this number, it forgets which streams were logged.
    private static let limit = 1000

    private struct Note {
        var logged: Int64
        var seen: Int64
        var reason: String
    }

    private let log: Log
    private let notes = Mutex<[Stream: Note]>([:])

    init(log: Log) {
        self.log = log
    }

    /// How many there are, as far as they were asked for lately.
    var count: Int {
        let time = monotonicMilliseconds()
        return notes.withLock { notes in
            notes = notes.filter { time - $0.value.seen < UnreadStreams.memory }
            return notes.count
        }
    }

    /// Which they are, the last seen first.
    var list: [(stream: Stream, reason: String)] {
        let time = monotonicMilliseconds()
        return notes.withLock { notes in
            notes.filter { time - $0.value.seen < UnreadStreams.memory }
                .sorted { $0.value.seen > $1.value.seen }
                .map { ($0.key, $0.value.reason) }
        }
    }

    func note(_ stream: Stream, _ fault: Fault) {
        guard case .unreadable(let what) = fault else { return }
        let time = monotonicMilliseconds()
        let isNews = notes.withLock { notes in
            if let note = notes[stream], time - note.logged < UnreadStreams.pause {
                notes[stream]?.seen = time
                return false
            }
            if notes.count >= UnreadStreams.limit { notes = [:] }
            notes[stream] = Note(logged: time, seen: time, reason: what.what)
            return true
        }
        if !isNews { return }
        log.error(
            "stream_unread",
            [
                "project": .string(stream.project.text),
                "environment": .string(stream.environment.rawValue),
                "customer": .string(stream.customer.text),
                "needs_newer_release": .bool(what.needsNewer), "reason": .string(what.what),
            ])
    }
}
