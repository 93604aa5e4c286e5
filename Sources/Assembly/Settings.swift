package import HTTPServer
import JSON
import Jobs
import Ledger
import Postgres
package import Telemetry

/// Where the database is.
package struct Settings: Sendable {
    /// `nil` for the private one in the data folder.
    package let databaseURL: String?
    package let dataFolder: String

    package init(databaseURL: String?, dataFolder: String) {
        self.databaseURL = databaseURL
        self.dataFolder = dataFolder
    }
}

/// How large a service is, and where it listens.
package struct ServiceSettings: Sendable {
    /// What is open besides connections of clients whom it serves and of its own to the database.
    private static let otherDescriptors = 256

    package var server = ServerSettings()
    /// Of the server for those who run Deed; `nil` unless it has an address of its own.
    package var operations: ServerSettings?
    package var answerBytes = 256 << 20
    package var staleMilliseconds: Int64 = 60_000
    /// When every project is reconciled once a day; `nil` where something else sees to that.
    private(set) var reconcileAt: TimeOfDay?

    package init() {}

    /// False unless the text is a time, as in `03:00`.
    package mutating func reconcile(at text: String) -> Bool {
        reconcileAt = TimeOfDay(text)
        return reconcileAt != nil
    }

    /// Takes the addresses, before anything is made for a service that will not be: another process may have them.
    package mutating func claimAddresses() throws(StartError) {
        do throws(ServerError) {
            try server.claimAddress()
            try operations?.claimAddress()
        } catch {
            throw .fault(error.description)
        }
    }

    /// Serves no more connections than there are descriptors for: the rest of the service needs some.
    package mutating func fitDescriptors(log: Log) {
        let others = ServiceSettings.otherDescriptors
        let wanted = server.connections + others + (operations?.connections ?? 0)
        let allowed = allowDescriptors(wanted)
        if allowed >= wanted { return }
        server.connections = max(1, allowed - others)
        log.warning(
            "few_descriptors",
            [
                "allowed": .integer(allowed), "wanted": .integer(wanted),
                "connections": .integer(server.connections),
                "remedy":
                    "raise the hard limit of open files (ulimit -Hn, LimitNOFILE= of systemd)",
            ])
    }

    func ledger(over database: Database, clock: @escaping Clock) -> LedgerSettings {
        var settings = LedgerSettings(connection: database.serviceConnection, clock: clock)
        settings.machineClock = systemClock
        settings.memory = .files(in: database.dataFolder, areKept: true)
        return settings
    }
}
