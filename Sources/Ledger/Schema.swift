package import Core
import Crypto
package import Postgres
import SQL

/// A step of the schema that was taken, or would be.
package struct SchemaStep: Hashable, Sendable {
    package let number: Int64
    package let name: String
}

/// What the database's schema is, and how it becomes what this release needs.
package struct Schema: ~Copyable {
    /// The newest migration that this release knows.
    package static var needed: Int64 { Migration.all.last?.number ?? 0 }

    var link: Link

    /// To migrate, the settings must be those of the schema's owner, or of a login that may create
    /// it; to look, those of the service do.
    package init(_ settings: ConnectionSettings) {
        var settings = settings
        // Building an index on a large log takes its time.
        settings.statementTimeoutMilliseconds = 0
        link = Link(settings)
    }

    /// The newest migration that the database has; 0 when it has none.
    package mutating func found() throws(LedgerError) -> Int64 {
        do throws(LedgerError) {
            return try link.settled { connection throws(LedgerError) in
                try connection.releasedMigrations().last?.number ?? 0
            }
        } catch {
            // 22023: there is no role of that name, and the first migration makes it.
            if case .postgres(let error) = error, error.sqlState == "22023" { return 0 }
            throw error
        }
    }

    /// Throws unless the schema is exactly what this release needs.
    package mutating func validate() throws(LedgerError) {
        if let error = LedgerError(migrationFound: try found()) { throw error }
    }

    /// The steps that `migrate` would take.
    package mutating func pending() throws(LedgerError) -> [SchemaStep] {
        try link.settled { connection throws(LedgerError) in
            try connection.pendingMigrations().map(SchemaStep.init)
        }
    }

    /// Takes every step that is missing, each in a transaction of its own, and reports it. Two
    /// processes that migrate at the same time take turns.
    package mutating func migrate(
        now: Instant, report: (SchemaStep) -> Void
    ) throws(LedgerError) {
        try link.settled { connection throws(LedgerError) in
            if try connection.pendingMigrations().isEmpty { return }
            try connection.prepareToMigrate()
            while let next = try connection.apply(now: now) { report(next) }
        }
    }
}

extension LedgerError {
    /// What is wrong with a schema at that migration; `nil` when nothing is.
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
        var isThere = false
        try read([Statement.migrationsExist()]) { _, rows in isThere = rows.bool(0, 0) }
        if !isThere { return [] }
        var applied: [AppliedMigration] = []
        try read([Statement.migrationsApplied()]) { _, rows in
            for row in 0..<rows.count {
                applied.append(
                    AppliedMigration(
                        number: rows.int8(row, 0), name: rows.text(row, 1),
                        digest: rows.bytes(row, 2)))
            }
        }
        return applied
    }

    /// The applied migrations. Throws when a build from before the first release applied others.
    fileprivate mutating func releasedMigrations() throws(LedgerError) -> [AppliedMigration] {
        let applied = try appliedMigrations()
        let first = applied.first { $0.number == Migration.all.first?.number }
        if let first, first.name != Migration.all.first?.name { throw .schemaUnreleased }
        return applied
    }

    /// The migrations that are missing, after a look at whether the others are the same as ours.
    fileprivate mutating func pendingMigrations() throws(LedgerError) -> [Migration] {
        let applied = try releasedMigrations()
        if let newest = applied.last, newest.number > Schema.needed {
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

    /// Makes the schema, the table of migrations and the service's role.
    fileprivate mutating func prepareToMigrate() throws(LedgerError) {
        try execute([
            Statement.begin(), Statement.migrationLock(), Statement.migrationSchema(),
            Statement.migrationTable(), Statement.commit(),
        ])
        do throws(LedgerError) {
            try execute([Statement.migrationRole()])
        } catch {
            // 42501: the login lacks the privilege.
            if case .postgres(let error) = error, error.sqlState == "42501" { throw .roleMissing }
            throw error
        }
    }

    /// Applies the next migration; `nil` when none is missing.
    fileprivate mutating func apply(now: Instant) throws(LedgerError) -> SchemaStep? {
        try execute([Statement.begin(), Statement.migrationLock()])
        guard let migration = try pendingMigrations().first else {
            try execute([Statement.commit()])
            return nil
        }
        do throws(PostgresError) {
            try run(migration.script)
        } catch {
            throw .postgres(error)
        }
        try execute([
            Statement.migrationRecord(
                .int8(migration.number), .text(migration.name), .bytea(migration.digest),
                .int8(now.milliseconds)),
            Statement.commit(),
        ])
        return SchemaStep(migration)
    }
}

struct AppliedMigration {
    let number: Int64
    let name: String
    let digest: [UInt8]
}

extension Migration {
    var digest: [UInt8] { SHA256.digest(script.text).bytes }
}
