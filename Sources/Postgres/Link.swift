import Threading

/// Runs on a new connection before it is used, because earlier knowledge may concern a different
/// server or an older state. An error closes the connection.
package typealias Greeting =
    @Sendable (_ connection: inout Connection, _ isFirst: Bool) throws(PostgresError) -> Void

/// A connection that is opened on first use and reopened after it breaks.
///
/// While the server is unreachable, attempts have a pause between them (50 ms, doubling up to 1 s).
/// Calls during a pause fail immediately, so that they do not each wait for a connect timeout.
package struct Link: ~Copyable {
    private static let shortestPause: Int64 = 50
    private static let longestPause: Int64 = 1000

    private let settings: ConnectionSettings
    private let greet: Greeting
    private var connection: Connection?
    private var wasConnected = false
    private var pause = Link.shortestPause
    private var nextAttempt: Int64 = 0
    /// How many times the pulse had abandoned connections by the last failed attempt.
    private var lossesByThen = 0
    /// The error from the last attempt.
    private var refusal = PostgresError(.connection, serverMessage: "waiting to connect again")

    /// `greet` is called with each connection before it is used.
    package init(_ settings: ConnectionSettings, greet: @escaping Greeting = { _, _ in }) {
        self.settings = settings
        self.greet = greet
    }

    package var isConnected: Bool {
        switch connection {
        case .some: true
        case .none: false
        }
    }

    /// Closes the connection. The next call opens a new one.
    package mutating func leave() { connection = nil }

    /// Runs `body` with a live connection. The connection is dropped if it breaks, or if `body` throws and leaves a
    /// transaction open.
    package mutating func use<Result: ~Copyable>(
        _ body: (inout Connection) throws(PostgresError) -> Result
    ) throws(PostgresError) -> Result {
        var current = try connected()
        do throws(PostgresError) {
            let result = try body(&current)
            connection = consume current
            return result
        } catch {
            // Only servers that accept writes are chosen, so a connection to one that no longer does is dropped.
            if error.kind == .statement, !error.isReadOnly, current.isIdle {
                connection = consume current
            }
            throw error
        }
    }

    private mutating func connected() throws(PostgresError) -> Connection {
        if let connection = connection.take(), !connection.isBroken, !connection.isGivenUp {
            return connection
        }
        let losses = settings.pulse?.count ?? 0
        // If connections have been abandoned since the last attempt, another server may be available.
        if monotonicMilliseconds() < nextAttempt, losses == lossesByThen { throw refusal }
        do throws(PostgresError) {
            var connection = try Connection.open(settings)
            try greet(&connection, !wasConnected)
            settings.pulse?.noteMeeting()
            pause = Link.shortestPause
            wasConnected = true
            return connection
        } catch {
            lossesByThen = losses
            nextAttempt = monotonicMilliseconds() + pause
            pause = min(pause * 2, Link.longestPause)
            refusal = error
            throw error
        }
    }
}
