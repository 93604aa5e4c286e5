package import Core
package import HTTPServer
import Synchronization
import Telemetry

/// Counts attempts to sign in to the console by outcome, and logs a limited number of failed ones.
package final class RefusedSignIns: Sendable {
    /// The outcome of an attempt.
    package enum Outcome: String, CaseIterable, Sendable {
        case signedIn = "signed_in"
        case wrong
        case tooManyTries = "too_many_tries"
        case busy
    }

    private let told = Mutex(ToldAddresses())
    private let counters: [Outcome: Counter]
    private let log: Log
    private let now: @Sendable () -> Instant

    package init(_ operations: Operations, now: @escaping @Sendable () -> Instant) {
        let metrics = operations.metrics
        counters = Dictionary(
            uniqueKeysWithValues: Outcome.allCases.map { outcome in
                (
                    outcome,
                    metrics.counter(
                        "deed_sign_ins_total", "Attempts to sign in to the console.",
                        labels: [("outcome", outcome.rawValue)])
                )
            })
        log = operations.log
        self.now = now
    }

    /// Counts an attempt. The log line contains the network address but does not name the person.
    package func note(_ outcome: Outcome, from client: ClientAddress?) {
        counters[outcome]?.add()
        guard outcome == .wrong || outcome == .tooManyTries, let client else { return }
        let lines = told.withLock { $0.lines(after: client, at: now()) }
        for line in lines { log.warning("sign_in_refused", line) }
    }
}
