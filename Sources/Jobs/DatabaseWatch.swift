package import Core
import JSON
package import Ledger
package import Postgres
package import PrivatePostgres
package import Telemetry
import Threading
import Wording

/// Checks regularly whether the database answers, and restarts a private database that does not.
package final class DatabaseWatch: Sendable {
    private static let pause: Int64 = 500
    /// The time limit, in milliseconds, for the database to answer a check.
    private static let patience: Int64 = 2000
    /// The time between two checks of a private PostgreSQL's files, in milliseconds.
    private static let tidyPause: Int64 = 60_000

    private struct State {
        /// Whether the database was usable at the last check; `nil` before the first check.
        var isUsable: Bool?
        var answers = false
        var lookedAt: Int64 = 0
        var tidiedAt: Int64?
        /// The private PostgreSQL's last reported fault, remembered so that it is not reported again at every check.
        var restartFault: String?
    }
    private let state = Monitor(State())
    private let connection: ConnectionSettings
    private let postgres: PrivatePostgres?
    private let log: Log
    private let ledger: Ledger
    private let foreignClock: ForeignClock?
    private let onReturn: Monitor<@Sendable () -> Void> = Monitor({})

    /// `postgres` is the private server, if there is one. `foreignClock` receives any test clock that the database
    /// should not have.
    package init(
        _ ledger: Ledger, over connection: ConnectionSettings, postgres: PrivatePostgres?,
        foreignClock: ForeignClock?, log: Log
    ) {
        self.ledger = ledger
        self.foreignClock = foreignClock
        self.connection = connection
        self.postgres = postgres
        self.log = log
    }

    package var job: Job {
        Job(
            "database", .everywhere(milliseconds: DatabaseWatch.pause),
            longestPause: DatabaseWatch.pause
        ) { [self] _ in
            look()
            return .asScheduled
        }
    }

    /// Calls `body` whenever the database becomes reachable again.
    package func whenBack(_ body: @escaping @Sendable () -> Void) {
        onReturn.change { $0 = body }
    }

    /// Why the database does not answer; `nil` if it does.
    package var obstacle: String? {
        let (isUsable, answers, lookedAt) = state.change(wake: .none) {
            ($0.isUsable, $0.answers, $0.lookedAt)
        }
        if isUsable == nil { return "The database has not been checked yet; wait a moment." }
        if answers, monotonicMilliseconds() - lookedAt < DatabaseWatch.patience { return nil }
        return "The database cannot be reached; check that it is running."
    }

    /// What prevents normal use of the database; empty if nothing does.
    package var impediments: [Impediment] { ledger.impediments }

    package func look() {
        do throws(Fault) {
            if let found = try ledger.look() { foreignClock?.flee(found) }
            tidy()
            if note(isUsable: true, answers: true) != false { return }
            log.info("database_reachable")
            let body = onReturn.change { $0 }
            body()
        } catch {
            // A server that is reachable but unusable counts as answering. Its impediment says why
            // it is unusable.
            let answers = if case .impeded = error { true } else { false }
            if note(isUsable: false, answers: answers) != false {
                log.error("not_ready", ["reason": .string(reason(of: error))])
            }
            if !answers { restartPostgres() }
        }
    }

    private func tidy() {
        guard let postgres else { return }
        let time = monotonicMilliseconds()
        let isDue = state.change(wake: .none) { state in
            if let at = state.tidiedAt, time - at < DatabaseWatch.tidyPause { return false }
            state.tidiedAt = time
            return true
        }
        if isDue { postgres.tidy() }
    }

    /// Records the result of a check. Returns the previous value of `isUsable`.
    private func note(isUsable: Bool, answers: Bool) -> Bool? {
        state.change(wake: .none) { state in
            defer {
                state.isUsable = isUsable
                state.answers = answers
                state.lookedAt = monotonicMilliseconds()
                if answers { state.restartFault = nil }
            }
            return state.isUsable
        }
    }

    /// Returns the reason that PostgreSQL gives for refusing a session.
    private func reason(of fault: Fault) -> String {
        do throws(PostgresError) {
            _ = try Connection.open(connection.forLooking)
            return fault.withRemedy
        } catch {
            return "\(error) PostgreSQL says: \(error.serverMessage)"
        }
    }

    private func restartPostgres() {
        guard let postgres else { return }
        do throws(PrivatePostgresError) {
            try postgres.ensureRunning()
        } catch {
            let reason = error.description
            let isNew = state.change(wake: .none) { state in
                defer { state.restartFault = reason }
                return state.restartFault != reason
            }
            if isNew { log.error("postgres_not_restarted", ["reason": .string(reason)]) }
        }
    }
}

extension Job {
    /// Stores how much of the log has been seen, for the next start.
    package static func remembering(_ ledger: Ledger) -> Job {
        Job("remembering", .everywhere(milliseconds: 100)) { _ in
            ledger.known.keep()
            return .asScheduled
        }
    }
}
