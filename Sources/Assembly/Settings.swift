package import Core
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
    /// Descriptors needed in addition to clients' connections and this process's own to the
    /// database.
    private static let otherDescriptors = 256

    package var server = ServerSettings()
    /// The operators' server; `nil` unless it has an address of its own.
    package var operations: ServerSettings?
    /// The pages for people; `nil` without them.
    package var console: ConsoleSettings?
    package var answerBytes = 256 << 20
    package var staleMilliseconds: Int64 = 60_000
    /// How often a rereading of the TLS files was requested.
    package var hangups: @Sendable () -> Int = { 0 }
    /// This build's version, shown to operators.
    package var version = ""
    /// The daily time to reconcile every project; `nil` if something else does that.
    private(set) var reconcileAt: TimeOfDay?

    private(set) var reconcileAtText: String?
    /// How old something becomes that is needed by none; `nil` if it stays.
    private(set) var forgetAfter: CalendarDuration? = .days(400)

    package init() {}

    /// Nothing is forgotten sooner. Stores repeat what they sent for up to 180 days.
    package static let shortestAge = CalendarDuration.days(200)

    /// False unless the text is `off`, or a duration that is long enough.
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

    /// False unless the text is a time, such as `03:00`.
    package mutating func reconcile(at text: String) -> Bool {
        reconcileAt = TimeOfDay(text)
        reconcileAtText = text
        return reconcileAt != nil
    }

    /// Claims the addresses before anything is created. Another process may have them, and then the
    /// service cannot start.
    package mutating func claimAddresses() throws(StartError) {
        do throws(ServerError) {
            try server.claimAddress()
            try operations?.claimAddress()
            try console?.server?.claimAddress()
        } catch {
            throw .fault(error.description)
        }
    }

    /// Limits connections to the available descriptors. The rest of the service needs some.
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
