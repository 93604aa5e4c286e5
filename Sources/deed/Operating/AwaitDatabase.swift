import Assembly
import Commands
import Core
import JSON
import Ledger
import Postgres
import Telemetry
import Threading

extension Option {
    static let noWait = switchSetting(
        "no-wait", "fail instead of waiting if the database cannot be reached")
}

extension Database {
    private static let pauseMilliseconds = 500
    private static let pausesBetweenWords = 20

    /// Waits until the database is reachable, and logs the wait. Returns `false` if the program is told to stop. Does
    /// not wait for a private database, because the command that needs it starts it.
    func awaitServer(log: Log) -> Bool {
        if isPrivate { return true }
        var pauses = 0
        while let reason = absence {
            if pauses % Database.pausesBetweenWords == 0 {
                log.warning(
                    "database_awaited",
                    [
                        "reason": .string(reason),
                        "remedy": "start PostgreSQL, or check that DEED_DATABASE_URL is right",
                    ])
            }
            pauses += 1
            if StopSignal.wait(milliseconds: Database.pauseMilliseconds) { return false }
        }
        if pauses > 0 { log.info("database_found", [:]) }
        return true
    }

    /// Why the database cannot be reached, if waiting may help.
    private var absence: String? {
        do throws(LedgerError) {
            var schema = Schema(serviceConnection)
            _ = try schema.found()
            return nil
        } catch {
            guard case .postgres(let reason) = error, reason.kind == .connection,
                serviceConnection.mayBeReachedLater
            else { return nil }
            return error.detailed
        }
    }
}
