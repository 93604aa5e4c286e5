package import Core
package import Postgres
import SQL

/// The facts about a PostgreSQL server, a login and a database that the setup needs.
package struct ServerExamination: Sendable {
    /// The version number, for example 150004.
    package let version: Int64
    package let syncs: Bool
    package let writesFullPages: Bool
    package let vacuums: Bool
    package let encoding: String
    package let isReadOnlyByDefault: Bool
    package let isStandby: Bool
    package let connections: Int64
    package let hasChecksums: Bool
    package let login: String
    package let database: String
    package let isSuperuser: Bool
    package let hasServiceRole: Bool
    package let mayServe: Bool
    /// Whether the login may act as the schema's owner.
    package let ownsSchema: Bool
    package let hasSchema: Bool
    package let clock: Instant
    /// The number of transactions since the oldest database was frozen.
    package let transactionAge: Int64
    /// The maximum number of sessions for the login and for the database; negative if there is no limit.
    package let loginLimit: Int64
    package let databaseLimit: Int64

    /// Examines the server with the login's own rights, because the database may not have a schema yet.
    package static func of(
        _ settings: ConnectionSettings
    ) throws(LedgerError) -> ServerExamination? {
        var link = Link(settings)
        let call = Statement.examineServer(.text(settings.schema))
        return try link.list(call) { rows, _ in ServerExamination(rows) }.first
    }

    private init(_ rows: borrowing Rows) {
        version = rows.int8(0, 0)
        syncs = rows.bool(0, 1)
        writesFullPages = rows.bool(0, 2)
        vacuums = rows.bool(0, 3)
        encoding = rows.text(0, 4)
        isReadOnlyByDefault = rows.bool(0, 5)
        isStandby = rows.bool(0, 6)
        connections = rows.int8(0, 7)
        hasChecksums = rows.bool(0, 8)
        login = rows.text(0, 9)
        database = rows.text(0, 10)
        isSuperuser = rows.bool(0, 11)
        hasServiceRole = rows.bool(0, 12)
        mayServe = rows.bool(0, 13)
        ownsSchema = rows.bool(0, 14)
        hasSchema = rows.bool(0, 15)
        clock = Instant(milliseconds: rows.int8(0, 16))
        transactionAge = rows.int8(0, 17)
        loginLimit = rows.int8(0, 18)
        databaseLimit = rows.int8(0, 19)
    }
}
