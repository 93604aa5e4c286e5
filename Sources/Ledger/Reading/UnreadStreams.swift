import Core
import JSON
import Synchronization
import Telemetry
import Threading

/// Logs which streams cannot be read and why, each once in ten minutes. Callers are only referred to the log.
final class UnreadStreams: Sendable {
    private static let pause: Int64 = 600_000
    /// Above this number, it forgets which streams were logged.
    private static let limit = 1000

    private let log: Log
    private let told = Mutex<[Stream: Int64]>([:])

    init(log: Log) {
        self.log = log
    }

    func tell(_ stream: Stream, _ fault: Fault) {
        guard case .broken(let reason) = fault else { return }
        let time = monotonicMilliseconds()
        let isNews = told.withLock { told in
            if let at = told[stream], time - at < UnreadStreams.pause { return false }
            if told.count >= UnreadStreams.limit { told = [:] }
            told[stream] = time
            return true
        }
        if !isNews { return }
        log.error(
            "stream_unread",
            [
                "project": .string(stream.project.text),
                "environment": .string(stream.environment.rawValue),
                "customer": .string(stream.customer.text), "reason": .string(reason),
            ])
    }
}
