package import Core
import Crypto
package import Postgres
import SQL
import Threading

/// A migration, applied or missing.
package struct SchemaStep: Hashable, Sendable {
    package let number: Int64
    package let name: String
}

/// The database's schema, compared with the one that this release needs.
package struct Schema: ~Copyable {
    /// The newest migration that this release knows.
    package static var needed: Int64 { Migration.all.last?.number ?? 0 }

    var link: Link

    /// A migration needs the login of the schema's owner, or of a role that may create the schema.
    /// An inspection only needs the service's login.
    package init(_ settings: ConnectionSettings) {
        var settings = settings
        // Building an index on a large log takes a long time.
        settings.statementTimeoutMilliseconds = 0
        link = Link(settings)
    }

    /// Returns the newest migration in the database; 0 if there is none.
    package mutating func found() throws(LedgerError) -> Int64 {
        do throws(LedgerError) {
            return try link.settled { connection throws(LedgerError) in
                try connection.releasedMigrations().last?.number ?? 0
            }
        } catch {
            // 22023: the role does not exist, because the first migration has not yet created it.
            if case .postgres(let error) = error, error.sqlState == "22023" { return 0 }
            throw error
        }
    }

    /// Returns what the database requires of programs, and the state of its schema.
    package mutating func standing() throws(LedgerError) -> SchemaStanding {
        let found = try found()
        if found < LogDemand.firstMigration {
            return SchemaStanding(migration: found, demand: nil)
        }
        return try link.settled { connection throws(LedgerError) in
            let demand = try connection.logDemand()
            // A newer schema that lacks one of this program's migrations was not made by a later release.
            if demand.isMet, found > Schema.needed, try !connection.pendingMigrations().isEmpty {
                return SchemaStanding(migration: found, demand: nil)
            }
            return SchemaStanding(migration: found, demand: demand)
        }
    }

    /// Throws unless this release can work with the schema and the log.
    package mutating func validate() throws(LedgerError) {
        if let error = try standing().error { throw error }
    }

    /// Returns the steps that `migrate` would perform.
    package mutating func pending() throws(LedgerError) -> [SchemaStep] {
        try link.settled { connection throws(LedgerError) in
            try connection.pendingMigrations().map(SchemaStep.init)
        }
    }

    /// Performs every missing step, each in its own transaction if possible, and reports it. Two
    /// processes that migrate at once take turns. Afterwards, an empty log has this program's
    /// format. A log with events keeps its own format.
    package mutating func migrate(
        through last: Int64 = Schema.needed, by program: String? = nil, now: Instant,
        report: (SchemaStep) -> Void
    ) throws(LedgerError) {
        try link.settled { connection throws(LedgerError) in
            if try !connection.pendingMigrations().isEmpty {
                try connection.makeServiceRole()
                while let next = try connection.apply(through: last, now: now) { report(next) }
            }
            if last < LogDemand.firstMigration { return }
            if try connection.logDemand().format < .own, try connection.logRoots().isEmpty {
                try connection.raiseFormat(by: program, now: now, onlyWhileEmpty: true)
            }
        }
    }

    /// Raises the log's format to this program's. Returns the previous format.
    @discardableResult
    package mutating func raiseFormat(
        by program: String, now: Instant
    ) throws(LedgerError) -> LogFormat {
        try link.settled { connection throws(LedgerError) in
            let before = try connection.logDemand().format
            if before < .own {
                try connection.raiseFormat(by: program, now: now, onlyWhileEmpty: false)
            }
            return before
        }
    }
}

/// A database's schema and log, compared with the schema and format that this release knows.
package struct SchemaStanding: Sendable {
    /// The newest migration; 0 if there is none.
    package let migration: Int64
    /// What the database demands; `nil` if the schema is older than log formats.
    package let demand: LogDemand?

    /// Whether a newer release created the schema.
    package var isNewer: Bool { migration > Schema.needed }

    /// Why this release cannot work with this database; `nil` if it can. A newer schema is no
    /// obstacle as long as it supports this release.
    package var error: LedgerError? {
        guard let demand, migration >= Schema.needed else {
            return LedgerError(migrationFound: migration)
        }
        if !demand.isMet { return LedgerError(migrationFound: migration) }
        return demand.impediment.map(LedgerError.impeded)
    }

    /// The log's format, if this release could raise it.
    package var pendingFormat: LogFormat? {
        guard error == nil, let demand, demand.format < .own else { return nil }
        return demand.format
    }
}

extension LedgerError {
    /// Creates the fault of a schema at that migration; `nil` if there is none.
    package init?(migrationFound found: Int64) {
        if found == Schema.needed { return nil }
        if found == 0 {
            self = .schemaMissing
        } else if found < Schema.needed {
            self = .schemaOutdated(found: found, needed: Schema.needed)
        } else {
            self = .schemaNewer(found: found, known: Schema.needed)
        }
    }
}

extension SchemaStep {
    fileprivate init(_ migration: Migration) {
        self.init(number: migration.number, name: migration.name)
    }
}

extension Connection {
    mutating func appliedMigrations() throws(LedgerError) -> [AppliedMigration] {
        let isThere = try list(Statement.migrationsExist()) { rows, row in rows.bool(row, 0) }
        if isThere != [true] { return [] }
        return try list(Statement.migrationsApplied()) { rows, row in
            AppliedMigration(
                number: rows.int8(row, 0), name: rows.text(row, 1), digest: rows.bytes(row, 2))
        }
    }

    /// Returns the applied migrations. Throws if an unreleased build applied any others.
    mutating func releasedMigrations() throws(LedgerError) -> [AppliedMigration] {
        let applied = try appliedMigrations()
        let first = applied.first { $0.number == Migration.all.first?.number }
        if let first, first.name != Migration.all.first?.name { throw .schemaUnreleased }
        return applied
    }

    /// Throws unless the applied migrations are those of this release.
    mutating func requireOwnMigrations() throws(LedgerError) { _ = try pendingMigrations() }

    /// Returns the missing migrations. Throws if the applied ones are not this release's.
    fileprivate mutating func pendingMigrations() throws(LedgerError) -> [Migration] {
        let applied = try releasedMigrations()
        if let newest = applied.last, newest.number > Schema.needed,
            try !logDemand().isMet
        {
            throw .schemaNewer(found: newest.number, known: Schema.needed)
        }
        for migration in Migration.all {
            let earlier = applied.first { $0.number == migration.number }
            if let earlier, earlier.digest != migration.digest {
                throw .migrationEdited(name: migration.name)
            }
        }
        return Migration.all.filter { migration in
            !applied.contains { $0.number == migration.number }
        }
    }

    fileprivate mutating func logDemand() throws(LedgerError) -> LogDemand {
        let demand = try list(Statement.readFormat()) { rows, row in LogDemand(rows, row) }.first
        guard let demand else { throw .unreadable("the log's format") }
        return demand
    }

    /// Raises the log's format while no commit is in progress. Every commit either saw the old
    /// format and has ended, or will see the new one.
    fileprivate mutating func raiseFormat(
        by program: String?, now: Instant, onlyWhileEmpty: Bool
    ) throws(LedgerError) {
        try beginAlone()
        let raise = Statement.raiseFormat(
            .int2(Int16(LogFormat.own.number)), .text(program), .int8(now.milliseconds),
            .bool(onlyWhileEmpty))
        try execute([Statement.holdShards(), raise, Statement.commit()])
    }

    /// Creates the service's role, which all databases on the server share.
    fileprivate mutating func makeServiceRole() throws(LedgerError) {
        do throws(LedgerError) {
            try execute([Statement.migrationRole()])
        } catch {
            // 42501: the login lacks the privilege.
            if case .postgres(let error) = error, error.sqlState == "42501" { throw .roleMissing }
            throw error
        }
    }

    /// Applies the next migration, or returns `nil` if none is missing. The first migration also creates the schema in
    /// the same transaction, so that a failure leaves no empty schema behind.
    fileprivate mutating func apply(
        through last: Int64, now: Instant
    ) throws(LedgerError) -> SchemaStep? {
        try beginAlone()
        try execute([Statement.migrationSchema(), Statement.migrationTable()])
        guard let migration = try pendingMigrations().first, migration.number <= last else {
            try execute([Statement.commit()])
            return nil
        }
        if migration.isStepwise {
            try execute([Statement.commit()])
            return try applyStepwise(through: last, now: now)
        }
        try execute(migration.script)
        try execute([migration.record(now), Statement.commit()])
        return SchemaStep(migration)
    }

    /// Applies a migration whose statements each need their own transaction.
    private mutating func applyStepwise(
        through last: Int64, now: Instant
    ) throws(LedgerError) -> SchemaStep? {
        while try !isGranted(Statement.migrationHold()) {
            pause(milliseconds: Connection.pauseBetweenMigrators)
        }
        // Another process may have performed the step in the meantime.
        let next = try pendingMigrations().first
        do throws(LedgerError) {
            if let next, next.isStepwise, next.number <= last {
                for step in next.steps { try execute(step) }
                try execute([next.record(now)])
            }
        } catch {
            try? execute([Statement.migrationGiveBack()])
            throw error
        }
        try execute([Statement.migrationGiveBack()])
        guard let next, next.number <= last else { return nil }
        return next.isStepwise ? SchemaStep(next) : try apply(through: last, now: now)
    }

    private mutating func execute(_ script: Script) throws(LedgerError) {
        do throws(PostgresError) {
            try run(script)
        } catch {
            throw .postgres(error)
        }
    }

    private static var pauseBetweenMigrators: Int64 { 50 }

    /// Begins a transaction during which no other process changes the schema. Polls for the lock, because a session
    /// that waits for it would block an index that another process builds concurrently.
    mutating func beginAlone() throws(LedgerError) {
        while true {
            try execute([Statement.begin()])
            if try isGranted(Statement.migrationLock()) { return }
            try execute([Statement.rollback()])
            pause(milliseconds: Connection.pauseBetweenMigrators)
        }
    }

    private mutating func isGranted(_ lock: Call) throws(LedgerError) -> Bool {
        try list(lock) { rows, row in rows.bool(row, 0) } == [true]
    }
}

struct AppliedMigration {
    let number: Int64
    let name: String
    let digest: [UInt8]
}

extension Migration {
    var digest: [UInt8] { SHA256.digest(script.text).bytes }

    fileprivate func record(_ now: Instant) -> Call {
        Statement.migrationRecord(
            .int8(number), .text(name), .bytea(digest), .int8(now.milliseconds))
    }
}
