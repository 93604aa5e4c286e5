import Core
import Synchronization
import Threading

/// The last fault that looked as if the database were away, in the database's own words, which callers do not get.
final class LastTrouble: Sendable {
    /// For how long it may explain what failed, in milliseconds.
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
    /// What failed last although the database could be used, as far as is known; `nil` while it cannot be used.
    package var puzzle: String? {
        guard condition.isUsable else { return nil }
        return troubles.words ?? "PostgreSQL has not said why."
    }
}
