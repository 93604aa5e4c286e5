package import Core
package import HTTPServer
import JSON
import Synchronization
import Telemetry

/// The number of console sign-ins by outcome. The log shows a limited number of failed ones.
package final class RefusedSignIns: Sendable {
    /// The outcome of an attempt.
    package enum Outcome: String, CaseIterable, Sendable {
        case signedIn = "signed_in"
        case needsCode = "needs_code"
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

    /// Counts an attempt. The log line contains the network address. It names the person only if someone with the right
    /// password tries codes, because the password is then compromised.
    package func note(
        _ outcome: Outcome, of person: PersonID? = nil, from client: ClientAddress?
    ) {
        counters[outcome]?.add()
        guard outcome == .wrong || outcome == .tooManyTries, let client else { return }
        let lines = told.withLock { $0.lines(after: client, at: now()) }
        for line in lines {
            log.warning("sign_in_refused", line.with("person", person.map { .string($0.text) }))
        }
    }

    /// Logs a change to a person's second factor. Like an event, the line names the person only by
    /// id.
    package func note(
        secondFactor change: String, of person: PersonID, from client: ClientAddress?
    ) {
        log.info(
            "second_factor_changed",
            [
                "change": .string(change), "person": .string(person.text),
                "address": .optional(client?.description),
            ])
    }
}
