import Core
import JSON
package import Ledger
package import Postgres
import PrivatePostgres
package import Telemetry

/// The configured database: either an operator's or the private one.
///
/// Only commands that start something may create the private database. For other commands, a missing folder
/// is more likely to be a misspelt name than a new database.
package struct Database: Sendable {
    let url: String
    let privatePostgres: PrivatePostgres?
    package let dataFolder: String

    package init(
        _ settings: Settings, mayCreate: Bool = false, isRestoring: Bool = false,
        log: Log = .silent
    ) throws(StartError) {
        dataFolder = settings.dataFolder
        if let url = settings.databaseURL {
            if let error = StartError(foreignURL: url) { throw error }
            self.url = url
            privatePostgres = nil
            return
        }
        if !isRestoring, RestoreMark(in: dataFolder).isThere {
            throw .refused(
                code: "restore_unfinished",
                sentence:
                    "A restore into \(dataFolder) is in progress or was interrupted. If it was interrupted, begin it "
                    + "again: deed restore BACKUP --data-dir \(dataFolder)")
        }
        if !mayCreate, !PrivatePostgres.exists(in: dataFolder) {
            throw .refused(
                code: "no_database",
                sentence:
                    "There is no database in \(dataFolder), or this user may not see it. If there was one, mount "
                    + "its disk, or restore a backup: deed restore BACKUP --data-dir \(dataFolder). To create an "
                    + "empty one, run: deed serve")
        }
        do throws(PrivatePostgresError) {
            let postgres = try PrivatePostgres(
                folder: dataFolder, mayCreate: mayCreate, isRestoring: isRestoring, log: log)
            url = postgres.url
            privatePostgres = postgres
        } catch {
            throw .fault(error.description)
        }
    }

    package var isPrivate: Bool { privatePostgres != nil }

    /// Records that a restore into the private database is complete.
    package func endRestoring() { if isPrivate { RestoreMark(in: dataFolder).remove() } }

    /// Ends this process's use of the database. A private database stops when its last user leaves.
    package func leave() { privatePostgres?.leave() }

    package func connection(role: String?) -> ConnectionSettings {
        ConnectionSettings(url: url, role: role)
    }

    /// A connection with the rights for all ordinary work.
    package var serviceConnection: ConnectionSettings {
        connection(role: LedgerSettings.serviceRole)
    }

    /// Returns the settings for a process that does one thing at a time.
    package func modestSettings(clock: @escaping Clock) -> LedgerSettings {
        var settings = LedgerSettings(connection: serviceConnection, clock: clock)
        settings.machineClock = systemClock
        settings.memory = .files(in: dataFolder, areKept: false)
        settings.committers = 1
        settings.readers = 1
        settings.lookups = 1
        return settings
    }

    /// Updates a private database's schema, because it has no administrator. An operator's database must already be up
    /// to date. A service that is the only user of the database also raises the log's format.
    package func prepareSchema(
        for program: String, raisesFormat: Bool = false, log: Log = .silent
    ) throws(StartError) {
        try asking { () throws(LedgerError) in
            if isPrivate {
                var asOwner = Schema(connection(role: nil))
                try asOwner.migrate(by: program, now: systemClock()) { step in
                    log.info("migrated", ["migration": .string(step.name)])
                }
                try asOwner.narrow()
                try asOwner.close(to: nil)
                if raisesFormat, let before = try asOwner.standing().pendingFormat {
                    try asOwner.raiseFormat(by: program, now: systemClock())
                    log.info(
                        "format_raised",
                        [
                            "from": .integer(before.number),
                            "to": .integer(LogFormat.own.number),
                        ])
                }
            }
            var asService = Schema(serviceConnection)
            try asService.validate()
        }
    }

    /// Logs how the schema and its rights differ from what this release creates. If the database does not answer, other
    /// parts report the fault.
    package func tellDifferences(log: Log) {
        guard var connection = try? Connection.open(serviceConnection),
            let differences = try? connection.schemaDifferences()
        else { return }
        for difference in differences.prefix(20) {
            log.warning(
                difference.isOutside ? "database_open" : "schema_differs",
                [
                    "object": .string(difference.object), "aspect": .string(difference.aspect),
                    "expected": .optional(difference.expected),
                    "found": .optional(difference.found),
                ])
        }
    }
}
