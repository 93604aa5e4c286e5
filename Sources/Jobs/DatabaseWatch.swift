package import Core
import JSON
package import Postgres
package import PrivatePostgres
package import Service
package import Telemetry
import Threading

/// Looks again and again whether the database is there, and keeps the rings fresh.
package final class Watch: Sendable {
    private static let pause: Int64 = 500
    /// How long the database may leave a look unanswered.
    private static let patience: Int64 = 2000

    private struct State {
        var isStopping = false
        var isHurried = false
        var isOver = true
        /// `nil` before the first look.
        var isReachable: Bool?
        var lookedAt: Int64 = 0
        /// What the log was last told of the private PostgreSQL, lest it be told with each look.
        var restartFault: String?
        /// Where a test clock stands that another instance gave the database.
        var foreignInstant: Instant?

        var obstacle: String? {
            if foreignInstant != nil {
                return "The database has a test clock; serve it with --test-clock."
            }
            if isStopping { return "The instance is stopping; send requests elsewhere." }
            guard let isReachable else { return "The database was not asked yet; wait a moment." }
            let age = monotonicMilliseconds() - lookedAt
            if isReachable, age < Watch.patience { return nil }
            return "The database cannot be reached; see that it runs."
        }
    }
    private let state = Monitor(State())
    private let keys: KeyRing
    private let apps: AppRing
    private let connection: ConnectionSettings
    private let postgres: PrivatePostgres?
    /// Reads a test clock that the database should not have; `nil` where it should.
    private let foreignClock: (@Sendable () throws(Fault) -> Instant?)?
    private let log: Log
    private let stopService: @Sendable () -> Void

    package init(
        keys: KeyRing, apps: AppRing, connection: ConnectionSettings, postgres: PrivatePostgres?,
        foreignClock: (@Sendable () throws(Fault) -> Instant?)?, log: Log,
        stop: @escaping @Sendable () -> Void
    ) {
        self.foreignClock = foreignClock
        stopService = stop
        self.keys = keys
        self.apps = apps
        self.connection = connection
        self.postgres = postgres
        self.log = log
    }

    /// What keeps the instance from answering.
    package var obstacles: @Sendable () -> [String] {
        { [state] in state.change(wake: .nobody) { [$0.obstacle].compactMap(\.self) } }
    }

    package func start() {
        look()
        state.change { $0.isOver = false }
        startThread("watch") { [self] in
            while !pause() { look() }
            state.change { $0.isOver = true }
        }
    }

    /// Looks at once: a project has changed.
    package func hurry() {
        state.change { $0.isHurried = true }
    }

    /// Waits for the next look; true when there is none any more.
    private func pause() -> Bool {
        let isStopping = state.wait(milliseconds: Watch.pause) { state -> Bool? in
            if state.isStopping { return true }
            if !state.isHurried { return nil }
            state.isHurried = false
            return false
        }
        return isStopping ?? false
    }

    package func stop() {
        state.change { $0.isStopping = true }
    }

    /// Whether the last look comes to its end in time.
    package func isOver(within milliseconds: Int64) -> Bool {
        state.wait(milliseconds: milliseconds) { $0.isOver ? true : nil } ?? false
    }

    private func look() {
        var fault: Fault?
        do throws(Fault) {
            try keys.reload()
            try apps.reload()
            if let instant = try foreignClock?() { flee(instant) }
        } catch {
            fault = error
        }
        let isReachable = fault == nil
        let before = state.change(wake: .nobody) { state in
            defer {
                state.isReachable = isReachable
                state.lookedAt = monotonicMilliseconds()
                if isReachable { state.restartFault = nil }
            }
            return state.isReachable
        }
        if let fault {
            if before != false { log.error("not_ready", ["reason": .string(reason(of: fault))]) }
            restartPostgres()
        } else if before == false {
            log.info("database_reachable")
        }
    }

    package var foreignInstant: Instant? { state.change(wake: .nobody) { $0.foreignInstant } }

    /// Ends the service: what it answers by the machine's clock is wrong from now on.
    private func flee(_ instant: Instant) {
        let isNew = state.change(wake: .nobody) { state in
            defer { state.foreignInstant = instant }
            return state.foreignInstant == nil
        }
        if !isNew { return }
        log.error(
            "test_clock_appeared",
            [
                "now": .string(instant.text),
                "reason": "another instance gave the database a test clock; this one stops",
            ])
        stopService()
    }

    /// What PostgreSQL itself says when it is asked for a session.
    private func reason(of fault: Fault) -> String {
        do throws(PostgresError) {
            _ = try Connection.open(connection)
            return fault.sentence
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
            let isNew = state.change(wake: .nobody) { state in
                defer { state.restartFault = reason }
                return state.restartFault != reason
            }
            if isNew { log.error("postgres_not_restarted", ["reason": .string(reason)]) }
        }
    }
}
