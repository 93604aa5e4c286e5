import Core
import Synchronization
import Threading

/// The last fault that suggested an unreachable database. Callers do not see it, because it is in the database's own
/// words.
final class LastTrouble: Sendable {
    /// How long the fault may explain later failures, in milliseconds.
    private static let memory: Int64 = 60_000

    private let last = Mutex<(words: String, at: Int64)?>(nil)

    var words: String? {
        let time = monotonicMilliseconds()
        return last.withLock { last in
            last.flatMap { time - $0.at < LastTrouble.memory ? $0.words : nil }
        }
    }

    func note(_ error: LedgerError, of stream: Stream? = nil) {
        guard error.isPassing else { return }
        let place = stream.map {
            " It was about \(quoted($0.customer.text)) in \($0.project), \($0.environment)."
        }
        last.withLock { $0 = (error.description + (place ?? ""), monotonicMilliseconds()) }
    }
}

extension Ledger {
    /// The last failure that occurred although the database seemed usable; `nil` while the database is not usable.
    package var puzzle: String? {
        guard condition.isUsable else { return nil }
        return troubles.words ?? "PostgreSQL has not said why."
    }
}
