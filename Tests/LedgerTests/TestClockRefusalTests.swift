import Postgres
import TestSupport
import Testing

/// Tests the rows that show that a database contains real data, and therefore exclude a test clock.
@Suite("What excludes a test clock")
struct TestClockRefusalTests {
    private static let clock = "insert into deed.test_clock (stands_at, marked_at) values (0, 0)"

    /// One row of each kind. `…` stands for its environment.
    private static let rows = [
        """
        insert into deed.customers (shard, project, environment, customer, version, catalog_version, runs)
            values (0, 'p', '…', 'c', 1, 0, '{}')
        """,
        "insert into deed.holders values ('p', 'apple', '…', 'a', '1', 'c')",
        "insert into deed.unclaimed values ('p', '…', 'apple', '1', 'a', 0)",
        "insert into deed.tokens values ('p', '…', 't', 'c')",
        """
        insert into deed.intake (id, project, purpose, environment, kind, app, digest, evidence, state,
            next_try_at, added_at, changed_at)
            values ('i', 'p', 'notification', '…', 'k', 'a', decode(repeat('00', 32), 'hex'), '\\x00',
                'waiting', 0, 0, 0)
        """,
        """
        insert into deed.evidence (digest, project, environment, kind, signed_at, first_seen_at, verdict,
            content, certificates, seal)
            values (decode(repeat('00', 32), 'hex'), 'p', '…', 'k', 0, 0, 'believed', '', '', '')
        """,
    ]

    private func refusal(of database: ScratchDatabase) throws -> String? {
        do throws(PostgresError) {
            var connection = try Connection.open(database.settings())
            try connection.run(Script(embedded: Array(Self.clock.utf8)))
            return nil
        } catch {
            return error.sqlState
        }
    }

    @Test("One production row is enough, and no sandbox row is", arguments: rows.indices)
    func production(_ index: Int) throws {
        for (environment, expected) in [("production", "DD007"), ("sandbox", nil)] {
            let database = try ScratchDatabase()
            try database.run(Self.rows[index].replacing("…", with: environment))
            #expect(try refusal(of: database) == expected, "\(environment): \(Self.rows[index])")
        }
    }

    @Test("Refused production evidence is no obstacle")
    func refusedEvidence() throws {
        let database = try ScratchDatabase()
        let row = Self.rows[5].replacing("…", with: "production")
        try database.run(row.replacing("'believed'", with: "'refused'"))
        #expect(try refusal(of: database) == nil)
    }

    @Test(
        "A real store's key or shared secret is enough; one for this machine's store is not",
        arguments: ["true, false", "false, true", "true, true", "false, false"])
    func credentials(_ kept: String) throws {
        for address in ["null", "'http://127.0.0.1:9090'"] {
            let database = try ScratchDatabase()
            try database.run(
                """
                insert into deed.store_credentials (project, store, app, sealed, key_name, has_key,
                    has_shared_secret, address, changed_at, changed_by, version)
                    values ('p', 'apple', 'a', decode(repeat('00', 28), 'hex'),
                        decode(repeat('00', 8), 'hex'), \(kept), \(address), 0, 'x', 1)
                """)
            let isRefused = kept.contains("true") && address == "null"
            #expect(try refusal(of: database) == (isRefused ? "DD008" : nil), "\(kept) \(address)")
        }
    }
}
