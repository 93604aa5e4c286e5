import Foundation
import Ledger
import Postgres
import TestSupport
import Testing

/// Compares the schema with what the migrations create.
@Suite("The schema is what the migrations make")
struct SchemaRightsTests {
    private let database: ScratchDatabase

    init() throws {
        database = try ScratchDatabase()
        var schema = Schema(database.settings())
        try schema.narrow()
        try schema.close(to: nil)
    }

    private func differences(role: String? = nil) throws -> [SchemaDifference] {
        var connection = try Connection.open(database.settings(role: role))
        return try connection.schemaDifferences()
    }

    @Test("sql/schema.txt lists a new schema; DEED_RECORD_SCHEMA=1 rewrites it")
    func list() throws {
        var connection = try Connection.open(database.settings())
        let lines = try connection.schemaLines()
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../sql/schema.txt")
        let text = lines.map { $0 + "\n" }.joined()
        if ProcessInfo.processInfo.environment["DEED_RECORD_SCHEMA"] == "1" {
            try text.write(to: file, atomically: true, encoding: .utf8)
        }
        #expect(try String(contentsOf: file, encoding: .utf8) == text)
    }

    @Test("An unchanged schema has no difference for any login")
    func same() throws {
        #expect(try differences() == [])
        #expect(try differences(role: LedgerSettings.serviceRole) == [])
        // The owner may grant the right to read.
        let analyst = try TestLogin(analystOf: database)
        try analyst.run("grant select on deed.events to \(analyst.name)")
        #expect(try differences() == [])
    }

    @Test(
        "Changes beyond the migrations are named, with the right state and the remedy",
        arguments: [
            (
                "drop trigger events_only_grow on deed.events", "deed.events",
                "trigger events_only_grow"
            ),
            (
                "alter table deed.events disable trigger events_only_grow", "deed.events",
                "trigger events_only_grow"
            ),
            (
                """
                create trigger also before insert on deed.tokens for each row execute function
                deed.refuse_change()
                """, "deed.tokens", "trigger also"
            ),
            (
                """
                create or replace function deed.refuse_change_of_log() returns trigger language plpgsql
                set search_path = pg_catalog, pg_temp as 'begin return new; end'
                """, "deed.refuse_change_of_log()", "function"
            ),
            ("alter function deed.now() security definer", "deed.now()", "function"),
            ("alter function deed.now() reset search_path", "deed.now()", "function"),
            (
                "create function deed.more() returns integer language sql return 1", "deed.more()",
                "function"
            ),
            (
                """
                create or replace view deed.balances as
                select b.project, b.environment, b.customer, b.currency, b.amount + 1 as amount
                from deed.customer_balances as b where b.shard = any (deed.every_shard())
                """, "deed.balances", "query"
            ),
            (
                "alter table deed.tokens drop constraint tokens_pkey", "deed.tokens",
                "constraint tokens_pkey"
            ),
            ("alter table deed.keys add column more text", "deed.keys", "columns"),
            ("alter table deed.keys alter role drop not null", "deed.keys", "columns"),
            (
                "drop index deed.intake_waiting_key", "deed.intake",
                "unique index deed.intake_waiting_key"
            ),
            (
                "grant update on deed.events to deed_service", "deed.events",
                "rights of deed_service"
            ),
            ("revoke select on deed.keys from deed_service", "deed.keys", "rights of deed_service"),
            (
                "grant update (chain) on deed.proven to public", "deed.proven.chain",
                "rights of PUBLIC"
            ),
            (
                "grant execute on function deed.standbys() to public", "deed.standbys()",
                "rights of PUBLIC"
            ),
            ("grant create on schema deed to public", "schema deed", "rights of PUBLIC"),
            ("alter table deed.keys enable row level security", "deed.keys", "kind"),
            (
                "create rule more as on insert to deed.tokens do also nothing", "deed.tokens",
                "rule more"
            ),
            ("create table deed.more ()", "deed.more", "kind"),
            ("delete from deed.migrations", "deed.migrations", "migration 1"),
        ])
    func changed(_ statement: String, _ object: String, _ aspect: String) throws {
        try database.run(statement)
        let found = try differences()
        let difference = try #require(
            found.first { $0.object == object && $0.aspect == aspect }, "\(found)")
        #expect(difference.expected != difference.found)
        #expect(!difference.isOutside)
        if aspect.hasPrefix("rights") {
            let remedy = try #require(
                difference.description.components(separatedBy: "repair it: ").last)
            try database.run(remedy)
            #expect(try differences() == [])
        }
    }

    @Test("Another login's right to write, and its table, are named")
    func others() throws {
        let other = try TestLogin(at: database.url)
        try other.run(
            """
            grant insert on deed.tokens to \(other.name);
            grant create, usage on schema deed to \(other.name);
            alter table deed.cursors owner to \(other.name)
            """)
        let found = try differences()
        #expect(
            Set(found.map { "\($0.object) \($0.aspect)" }).isSuperset(of: [
                "deed.tokens rights of \(other.name)", "schema deed rights of \(other.name)",
                "deed.cursors owner",
            ]), "\(found)")
        try other.run("alter table deed.cursors owner to deed")
    }

    @Test("That everybody may connect is reported as outside the schema")
    func open() throws {
        try database.run("grant connect, temporary on database \(database.name) to public")
        let found = try differences()
        #expect(found.map(\.found) == ["CONNECT, TEMPORARY"])
        #expect(found.map(\.isOutside) == [true])
        #expect(found.first?.description.contains("deed migrate --service-login") == true)
    }
}
