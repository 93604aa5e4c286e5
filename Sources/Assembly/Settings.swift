package import Core
package import HTTPServer
import JSON
import Jobs
import Ledger
import Postgres
package import Telemetry

/// The location of the database.
package struct Settings: Sendable {
    /// `nil` for the private database in the data folder.
    package let databaseURL: String?
    package let dataFolder: String

    package init(databaseURL: String?, dataFolder: String) {
        self.databaseURL = databaseURL
        self.dataFolder = dataFolder
    }
}

/// The size and the addresses of a service.
package struct ServiceSettings: Sendable {
    /// The number of descriptors for everything except clients' connections and the process's connections to the
    /// database.
    private static let otherDescriptors = 256

    package var server = ServerSettings()
    /// The operators' server; `nil` if it has no separate address.
    package var operations: ServerSettings?
    /// The pages for people; `nil` if they are turned off.
    package var console: ConsoleSettings?
    package var answerBytes = 256 << 20
    package var staleMilliseconds: Int64 = 60_000
    /// The number of requests to reread the TLS files.
    package var hangups: @Sendable () -> Int = { 0 }
    /// This build's version, shown to operators.
    package var version = ""
    /// The daily time at which every project is reconciled; `nil` if another program starts reconciliations.
    private(set) var reconcileAt: TimeOfDay?

    private(set) var reconcileAtText: String?
    /// The age at which data that is no longer needed is deleted; `nil` to keep such data.
    private(set) var forgetAfter: CalendarDuration? = .days(400)

    package init() {}

    /// The minimum age for deletion. Stores may repeat a message for up to 180 days.
    package static let shortestAge = CalendarDuration.days(200)

    /// Parses and sets the age. Returns false unless the text is `off` or a duration that is long
    /// enough.
    package mutating func forget(after text: String) -> Bool {
        if text == "off" {
            forgetAfter = nil
            return true
        }
        let start = Instant(milliseconds: 0)
        guard let age = CalendarDuration(text),
            age.end(after: start) >= ServiceSettings.shortestAge.end(after: start)
        else { return false }
        forgetAfter = age
        return true
    }

    /// Parses and sets the daily time, such as `03:00`. Returns false if the text has another form.
    package mutating func reconcile(at text: String) -> Bool {
        reconcileAt = TimeOfDay(text)
        reconcileAtText = text
        return reconcileAt != nil
    }

    /// Claims the addresses before anything is created. A service cannot start if another process uses its address.
    package mutating func claimAddresses() throws(StartError) {
        do throws(ServerError) {
            try server.claimAddress()
            try operations?.claimAddress()
            try console?.server?.claimAddress()
        } catch {
            throw .fault(error.description)
        }
    }

    /// Limits connections to the available descriptors. Some descriptors are reserved for the rest
    /// of the service.
    package mutating func fitDescriptors(log: Log) {
        let others = ServiceSettings.otherDescriptors
        let wanted =
            server.connections + others + (operations?.connections ?? 0)
            + (console?.server?.connections ?? 0)
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
