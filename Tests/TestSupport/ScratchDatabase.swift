package import Core
import Foundation
package import Ledger
package import Postgres
package import Telemetry

/// An empty database for one test, with or without Deed's schema. The test drops it at the end.
package final class ScratchDatabase: Sendable {
    package let name: String
    package let url: String
    private let server: String

    /// Another database on the server, for administering this one.
    package var serverURL: String { server }

    package struct NoServer: Error, CustomStringConvertible {
        package var description: String {
            "DEED_TEST_DATABASE_URL names no PostgreSQL; run the tests with: scripts/test"
        }
    }

    package init(migrated: Bool = true) throws {
        server = try ScratchDatabase.testServer()
        name = ScratchDatabase.newName()
        url = ScratchDatabase.url(of: name, on: server)
        let template = migrated ? " template \(try ScratchDatabase.template.get())" : ""
        try ScratchDatabase.run("create database \(name)" + template, on: server)
    }

    /// Creates a database with the schema after these migrations.
    package init(migratedThrough last: Int64) throws {
        server = try ScratchDatabase.testServer()
        name = ScratchDatabase.newName()
        url = ScratchDatabase.url(of: name, on: server)
        try ScratchDatabase.run("create database \(name)", on: server)
        var schema = Schema(ConnectionSettings(url: url, role: nil))
        try schema.migrate(through: last, now: Instant(milliseconds: 0)) { _ in }
    }

    /// A database with Deed's schema to copy. A copy takes a third of the migrations' time.
    private static let template = Result {
        let (server, name) = (try testServer(), newName())
        try run("create database \(name)", on: server)
        var schema = Schema(ConnectionSettings(url: url(of: name, on: server), role: nil))
        try schema.migrate(now: Instant(milliseconds: 0)) { _ in }
        return name
    }

    private static func testServer() throws(NoServer) -> String {
        guard let server = ProcessInfo.processInfo.environment["DEED_TEST_DATABASE_URL"],
            server.contains("///postgres?")
        else { throw NoServer() }
        return server
    }

    private static func newName() -> String { "deed_test_\(UInt64.random(in: 0...UInt64.max))" }

    private static func url(of name: String, on server: String) -> String {
        server.replacingOccurrences(of: "///postgres?", with: "///\(name)?")
    }

    /// Creates a copy of the other database with all of its content. Ends the other database's sessions first.
    package init(copying other: ScratchDatabase) throws {
        server = other.server
        name = ScratchDatabase.newName()
        url = ScratchDatabase.url(of: name, on: server)
        try ScratchDatabase.run(
            "alter database \(other.name) with allow_connections false", on: server)
        defer {
            try? ScratchDatabase.run(
                "alter database \(other.name) with allow_connections true", on: server)
        }
        let end = "select pg_terminate_backend(pid) from pg_stat_activity where datname = "
        try ScratchDatabase.run("\(end)'\(other.name)'", on: server)
        try ScratchDatabase.run("create database \(name) template \(other.name)", on: server)
    }

    deinit {
        try? drop()
    }

    /// Drops the database, even if it is in use.
    package func drop() throws {
        try ScratchDatabase.run("drop database if exists \(name) with (force)", on: server)
    }

    /// Settings for the owner of the schema, or for a role.
    package func settings(role: String? = nil) -> ConnectionSettings {
        var settings = ConnectionSettings(url: url, role: role)
        // With many tests at once, even a working session may be silent for long.
        settings.silentLockMilliseconds = 10_000
        return settings
    }

    /// Returns a ledger like the service's.
    package func ledger(
        clock: @escaping @Sendable () -> Instant = { Instant(milliseconds: 1_795_202_460_000) },
        log: Log = .silent, metrics: Metrics = Metrics(),
        change: (inout LedgerSettings) -> Void = { _ in }
    ) -> Ledger {
        var settings = ledgerSettings(clock: clock)
        change(&settings)
        return Ledger(settings, log: log, metrics: metrics)
    }

    /// Returns a ledger's settings. With many tests at once, a commit may take long.
    package func ledgerSettings(clock: @escaping @Sendable () -> Instant) -> LedgerSettings {
        var settings = LedgerSettings(
            connection: settings(role: LedgerSettings.serviceRole), clock: clock)
        settings.patienceMilliseconds = 30_000
        return settings
    }

    /// Runs the test's own SQL as the schema's owner, or as another role.
    package func run(_ text: String, role: String? = nil) throws {
        try ScratchDatabase.run(text, on: url, role: role)
    }

    /// Reads each column of each row of each view.
    package func readEveryView() throws {
        try run(
            """
            do $$ declare
                shown text;
            begin
                for shown in select viewname from pg_views where schemaname = 'deed' loop
                    execute format('select count(row::text) from deed.%I as row', shown);
                end loop;
            end $$
            """)
    }

    /// Runs the test's own statement and returns the number in its result.
    package func number(_ text: String) throws -> Int64 { try queriedNumber(text, at: url) }

    /// Runs the test's own statement and returns the text in its result.
    package func text(_ text: String) throws -> String { try queriedText(text, at: url) }

    private static func run(_ text: String, on url: String, role: String? = nil) throws {
        var connection = try Connection.open(ConnectionSettings(url: url, role: role))
        try connection.run(Script(embedded: Array(text.utf8)))
    }
}

/// Runs the test's own statement and returns the number in its result.
package func queriedNumber(_ text: String, at url: String) throws -> Int64 {
    var connection = try Connection.open(ConnectionSettings(url: url, role: nil))
    let statement = Statement(embedded: Array(text.utf8))
    var number: Int64 = 0
    try connection.run([statement()]) { _, rows in number = rows.int8(0, 0) }
    return number
}

/// Runs the test's own statement and returns the text in its result.
package func queriedText(_ text: String, at url: String) throws -> String {
    var connection = try Connection.open(ConnectionSettings(url: url, role: nil))
    let statement = Statement(embedded: Array(text.utf8))
    var found = ""
    try connection.run([statement()]) { _, rows in found = rows.text(0, 0) }
    return found
}
