import Core
package import Postgres
import SQL

/// A snapshot of the log. As long as it is open, a dump can share it.
package struct LogSnapshot: ~Copyable {
    /// The connection whose open transaction holds the snapshot.
    private let connection: Connection
    /// The name for `pg_dump --snapshot`.
    package let name: String
    package let marks: [ShardMark]
    package let migration: Int64
    /// Statements that create the roles that have rights in the schema.
    package let roles: [String]
    package let undumpable: [String]
    package let bytes: Int64

    /// Uses the login's own rights.
    package init(_ settings: ConnectionSettings) throws(LedgerError) {
        var settings = settings
        settings.statementTimeoutMilliseconds = 0
        let schema = settings.schema
        var opened = try Self.open(settings)
        try opened.execute([Statement.beginSnapshot()])
        let migration = try opened.releasedMigrations().last?.number ?? 0
        var (name, marks, roles) = ("", [ShardMark](), [String]())
        var bytes: Int64 = 0
        let undumpable = try opened.list(Statement.listUndumpable(.text(schema))) { rows, row in
            rows.text(row, 0)
        }
        if LogSnapshot.isDumpable(migration), undumpable.isEmpty {
            try opened.requireOwnMigrations()
            try opened.read([Statement.exportSnapshot()]) { _, rows in name = rows.text(0, 0) }
            marks = try opened.shardMarks()
            roles = try opened.list(Statement.listDumpRoles(.text(schema))) { rows, row in
                rows.text(row, 2)
            }
            try opened.read([Statement.measureStorage()]) { _, rows in bytes = rows.int8(0, 0) }
        }
        (self.name, self.marks, self.roles, self.undumpable) = (name, marks, roles, undumpable)
        (self.migration, self.bytes) = (migration, bytes)
        connection = opened
    }

    /// Whether this release can restore the dump. An older schema is migrated after the restore.
    package var isDumpable: Bool { LogSnapshot.isDumpable(migration) }

    private static func isDumpable(_ migration: Int64) -> Bool {
        (1...Schema.needed).contains(migration)
    }

    private static func open(_ settings: ConnectionSettings) throws(LedgerError) -> Connection {
        do throws(PostgresError) {
            return try Connection.open(settings)
        } catch {
            throw .postgres(error)
        }
    }
}

/// The database that a dump is restored into.
package struct RestoreTarget: Sendable {
    package let hasSchema: Bool
    package let mayCreate: Bool
    package let mayCreateRoles: Bool
    package let hasServiceRole: Bool
    /// Whether the login may act as the service.
    package let mayServe: Bool
    package let version: Int64
    package let encoding: String
    package let login: String

    package static func of(_ settings: ConnectionSettings) throws(LedgerError) -> RestoreTarget? {
        var link = Link(settings)
        let call = Statement.examineTarget(.text(settings.schema))
        return try link.list(call) { rows, row in
            RestoreTarget(
                hasSchema: rows.bool(row, 0), mayCreate: rows.bool(row, 1),
                mayCreateRoles: rows.bool(row, 2), hasServiceRole: rows.bool(row, 3),
                mayServe: rows.bool(row, 4), version: rows.int8(row, 5),
                encoding: rows.text(row, 6), login: rows.text(row, 7))
        }.first
    }
}

extension OperatorsView {
    /// Returns whether any data is sealed with the installation's key.
    package mutating func hasSealed() throws(LedgerError) -> Bool {
        try link.list(Statement.hasSealed()) { rows, row in rows.bool(row, 0) }.first ?? false
    }
}
