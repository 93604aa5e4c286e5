package import Core
import Crypto
package import Postgres
import SQL

/// A step of the schema, taken or pending.
package struct SchemaStep: Hashable, Sendable {
    package let number: Int64
    package let name: String
}

/// The state of the database's schema, and the way to what this release needs.
package struct Schema: ~Copyable {
    /// The newest migration that this release knows.
    package static var needed: Int64 { Migration.all.last?.number ?? 0 }

    var link: Link

    /// Migrating needs the login of the schema's owner, or one that may create it; looking needs
    /// only the service's.
    package init(_ settings: ConnectionSettings) {
        var settings = settings
        // Building an index on a large log takes long.
        settings.statementTimeoutMilliseconds = 0
        link = Link(settings)
    }

    /// The newest migration in the database; 0 if there is none.
    package mutating func found() throws(LedgerError) -> Int64 {
        do throws(LedgerError) {
            return try link.settled { connection throws(LedgerError) in
                try connection.releasedMigrations().last?.number ?? 0
            }
        } catch {
            // 22023: the role does not exist, because the first migration creates it.
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

    /// Takes every missing step, each in its own transaction, and reports it. Two processes that
    /// migrate at the same time take turns.
    package mutating func migrate(
        now: Instant, report: (SchemaStep) -> Void
    ) throws(LedgerError) {
        try link.settled { connection throws(LedgerError) in
            if try connection.pendingMigrations().isEmpty { return }
            try connection.makeServiceRole()
            while let next = try connection.apply(now: now) { report(next) }
        }
    }
}

extension LedgerError {
    /// The problem with a schema at that migration; `nil` if there is none.
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

    /// The applied migrations. Throws if a build from before the first release applied others.
    mutating func releasedMigrations() throws(LedgerError) -> [AppliedMigration] {
        let applied = try appliedMigrations()
        let first = applied.first { $0.number == Migration.all.first?.number }
        if let first, first.name != Migration.all.first?.name { throw .schemaUnreleased }
        return applied
    }

    /// The missing migrations, after a check that the applied ones are ours.
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

    /// Creates the service's role, which belongs to no database.
    fileprivate mutating func makeServiceRole() throws(LedgerError) {
        do throws(LedgerError) {
            try execute([Statement.migrationRole()])
        } catch {
            // 42501: the login lacks the privilege.
            if case .postgres(let error) = error, error.sqlState == "42501" { throw .roleMissing }
            throw error
        }
    }

    /// Applies the next migration; `nil` if none is missing. The first one also creates the schema: an empty
    /// schema, of which the service knows nothing, is never left behind.
    fileprivate mutating func apply(now: Instant) throws(LedgerError) -> SchemaStep? {
        try execute([
            Statement.begin(), Statement.migrationLock(), Statement.migrationSchema(),
            Statement.migrationTable(),
        ])
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
