import Core
package import JSON
import Synchronization
import Telemetry
import Threading

/// A stream that cannot be read, or an unreadable row in a table beside the log. The strings are
/// exactly as stored in the database, because the names themselves may be damaged.
package struct UnreadSubject: Hashable, Sendable {
    package let project: String
    package let environment: String
    package let customer: String
    /// The row's table and key; `nil` for a stream.
    package let row: String?

    init(_ project: String, _ environment: String, _ customer: String, row: String? = nil) {
        self.project = project
        self.environment = environment
        self.customer = customer
        self.row = row
    }

    init(_ stream: Stream) {
        self.init(stream.project.text, stream.environment.rawValue, stream.customer.text)
    }

    /// The subject as JSON.
    package var words: JSONObject {
        var words = JSONObject()
        words.append("project", .string(project))
        words.append("environment", .string(environment))
        words.append("customer", .string(customer))
        if let row { words.append("row", .string(row)) }
        return words
    }
}

/// Counts unreadable streams and rows, and logs each of them with its reason once a minute. Error
/// messages to callers refer to the log.
final class UnreadStreams: Sendable {
    private static let pause: Int64 = 60_000
    /// How long a stream counts as unreadable after its last failed read, in milliseconds.
    private static let memory: Int64 = 600_000
    /// Above this number, further streams and rows are neither counted nor logged.
    private static let limit = 1000

    private struct Note {
        var logged: Int64
        var seen: Int64
        var reason: String
    }

    private let log: Log
    private let notes = Mutex<[UnreadSubject: Note]>([:])

    init(log: Log) {
        self.log = log
    }

    /// The number of streams and rows that recently could not be read.
    var count: Int {
        let time = monotonicMilliseconds()
        return notes.withLock { notes in
            notes = notes.filter { time - $0.value.seen < UnreadStreams.memory }
            return notes.count
        }
    }

    /// The streams and rows that recently could not be read, latest first.
    var list: [(subject: UnreadSubject, reason: String)] {
        let time = monotonicMilliseconds()
        return notes.withLock { notes in
            notes.filter { time - $0.value.seen < UnreadStreams.memory }
                .sorted { $0.value.seen > $1.value.seen }
                .map { ($0.key, $0.value.reason) }
        }
    }

    func note(_ stream: Stream, _ fault: Fault) { note(UnreadSubject(stream), fault) }

    func note(_ subject: UnreadSubject, _ fault: Fault) {
        guard case .unreadable(let what) = fault else { return }
        let time = monotonicMilliseconds()
        let isNews = notes.withLock { notes in
            if let note = notes[subject], time - note.logged < UnreadStreams.pause {
                notes[subject]?.seen = time
                return false
            }
            if notes.count >= UnreadStreams.limit {
                notes = notes.filter { time - $0.value.seen < UnreadStreams.memory }
                // Skips new streams beyond the limit. If they displaced known ones, every failed read would be logged
                // again.
                if notes.count >= UnreadStreams.limit, notes[subject] == nil { return false }
            }
            notes[subject] = Note(logged: time, seen: time, reason: what.what)
            return true
        }
        if !isNews { return }
        var line = subject.words
        line.append("needs_newer_release", .bool(what.needsNewer))
        line.append("reason", .string(what.what))
        log.error("stream_unread", .object(line))
    }
}
