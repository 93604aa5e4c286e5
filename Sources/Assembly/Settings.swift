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

/// A service's size, and its addresses.
package struct ServiceSettings: Sendable {
    /// Descriptors besides those of clients' connections and of its own to the database.
    private static let otherDescriptors = 256

    package var server = ServerSettings()
    /// The operators' server; `nil` unless it has its own address.
    package var operations: ServerSettings?
    package var answerBytes = 256 << 20
    package var staleMilliseconds: Int64 = 60_000
    /// How often the service was asked to read its TLS files again.
    package var hangups: @Sendable () -> Int = { 0 }
    /// This build's, shown to operators.
    package var version = ""
    /// When every project is reconciled each day; `nil` if something else does that.
    private(set) var reconcileAt: TimeOfDay?

    private(set) var reconcileAtText: String?

    package init() {}

    /// False unless the text is a time, such as `03:00`.
    package mutating func reconcile(at text: String) -> Bool {
        reconcileAt = TimeOfDay(text)
        reconcileAtText = text
        return reconcileAt != nil
    }

    /// Claims the addresses before anything is made for a service that cannot start: another process may have
    /// them.
    package mutating func claimAddresses() throws(StartError) {
        do throws(ServerError) {
            try server.claimAddress()
            try operations?.claimAddress()
        } catch {
            throw .fault(error.description)
        }
    }

    /// Limits connections to the available descriptors: the rest of the service needs some.
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
