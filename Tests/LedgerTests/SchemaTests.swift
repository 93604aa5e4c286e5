import Core
import Postgres
import SQL
import TestSupport
import Testing

@testable import Ledger

@Suite("Migrations")
struct SchemaTests {
    private let now = Instant(milliseconds: 0)

    /// The migrations of each release by SHA-256. Releases add migrations, but never change earlier ones.
    private static let released = [
        (
            "0001_baseline",
            "1af9d5d1e7ade8c19543c65aea8e9ef3274c3defc9d0b83b8115aeacf6983cbc"
        ),
        (
            "0002_hands",
            "25f48130a1ebe131e5ff01df9dc31f4243cc46252c62345c5e1dc22d5e7a62c1"
        ),
        (
            "0003_find",
            "f0c625556cc4c2cde5a44d61cfc679cb1ff7abab3f8ac0d49c6735318fd69c15"
        ),
        (
            "0004_webhooks",
            "5b5a29fc286d63c0e4275cdd9df54619b2e4f2df4c28df60e5d246594a81d1fe"
        ),
        (
            "0005_operate",
            "26c0d6b2aa57cd5bcedf526c671605d0e7581e1f4b6731ef86fe6193c3dad364"
        ),
        (
            "0006_erase",
            "7fe74a858248ffea15f5bf7d9758add07274bb05734069077406a7464c2f1dc8"
        ),
        (
            "0007_persons",
            "9b8b361e1aa5c77c5922c0f36e2bc322d4d3f6b23c5c722028a2a93dffbc933f"
        ),
        (
            "0008_merge",
            "a552d9734531a1920214eb1a54d89c1c30ae312b456d39ddf502667ab0fe1cbf"
        ),
    ]

    @Test("A released migration stays as it was", arguments: released)
    func unedited(_ name: String, _ digest: String) throws {
        let migration = try #require(Migration.all.first { $0.name == name })
        #expect(migration.digest.hexDigits == digest)
    }

    @Test("An empty database is migrated once")
    func migrate() throws {
        let database = try ScratchDatabase(migrated: false)
        var schema = Schema(database.settings())
        #expect(throws: LedgerError.self) { try schema.validate() }
        let pending = try schema.pending()
        #expect(pending.map(\.number) == Migration.all.map(\.number))
        var taken: [SchemaStep] = []
        try schema.migrate(now: now) { taken.append($0) }
        #expect(taken == pending)
        try schema.validate()
        taken = []
        try schema.migrate(now: now) { taken.append($0) }
        #expect(taken.isEmpty)
    }

    @Test("An index that an earlier try left behind is built anew, and nothing waits for it")
    func stepwise() throws {
        let database = try ScratchDatabase()
        try database.run(
            """
            delete from deed.migrations where name = '0011_causes';
            drop index deed.events_of_causes;
            create index events_of_causes on deed.events (customer);
            """)
        let ledger = database.ledger()
        defer { ledger.close() }
        inParallel(4) { lane in
            if lane == 0 {
                for number in 0..<50 {
                    _ = try? ledger.append(.give("pro", to: .test("u"), grant: "g\(number)"))
                }
                return
            }
            var schema = Schema(database.settings())
            do {
                try schema.migrate(now: now) { _ in }
            } catch {
                Issue.record("\(error)")
            }
        }
        #expect(try ledger.customer(of: .test("u")).customer.grants.count == 50)
        let valid = """
            select count(*) from pg_index as i join pg_class as c on c.oid = i.indexrelid
            where c.relname = 'events_of_causes' and i.indisvalid
                and pg_get_indexdef(i.indexrelid) like '%hashtextextended%'
            """
        #expect(try database.number(valid) == 1)
        #expect(
            try database.number("select count(*) from deed.migrations")
                == Int64(Migration.all.count))
    }

    @Test("If nothing is missing, nothing waits for another migrator", .timeLimit(.minutes(20)))
    func unlocked() throws {
        let database = try ScratchDatabase()
        var holder = try Connection.open(database.settings())
        let lock = "select pg_advisory_lock(4919504103391558)"
        try holder.run([Statement(embedded: Array(lock.utf8))()])
        var schema = Schema(database.settings())
        try schema.migrate(now: now) { _ in }
        _ = consume holder
    }

    @Test("The service itself can check the schema")
    func asService() throws {
        let database = try ScratchDatabase()
        try database.run("revoke all on schema deed from public")
        var schema = Schema(database.settings(role: LedgerSettings.serviceRole))
        try schema.validate()
        var missing = Schema(database.settings(role: "deed_nobody"))
        #expect {
            try missing.validate()
        } throws: { "\($0)".contains("run: deed migrate") }
    }

    @Test(
        "A schema that is not the release's is refused with the command that helps",
        arguments: [
            ("delete from deed.migrations", "run: deed migrate"),
            ("update deed.migrations set number = number + 90", "newer one"),
            ("update deed.migrations set name = '0001_ledger'", "a development build before 0.1.0"),
        ])
    func refused(_ change: String, _ sentence: String) throws {
        let database = try ScratchDatabase()
        try database.run(change)
        var schema = Schema(database.settings())
        #expect {
            try schema.validate()
        } throws: { "\($0)".contains(sentence) }
    }

    @Test("Migration numbers have no gaps, and file names begin with them")
    func numbers() {
        for (index, migration) in Migration.all.enumerated() {
            #expect(migration.number == Int64(index) + 1)
            let digits = String(10_000 + migration.number).dropFirst()
            #expect(migration.name.hasPrefix("\(digits)_"))
        }
    }

    @Test("A database of a build before the first release is migrated no further")
    func unreleased() throws {
        let database = try ScratchDatabase()
        try database.run(
            """
            update deed.migrations set name = '0001_ledger';
            insert into deed.migrations select 29, '0029_named_columns', digest, applied_at
            from deed.migrations where number = 1
            """)
        var schema = Schema(database.settings())
        #expect {
            try schema.migrate(now: now) { _ in Issue.record("a step was taken") }
        } throws: { "\($0)".contains("before 0.1.0") }
    }

    @Test("An edited migration is refused")
    func edited() throws {
        let database = try ScratchDatabase()
        try database.run("update deed.migrations set digest = '\\x00'")
        var schema = Schema(database.settings())
        #expect {
            try schema.pending()
        } throws: { "\($0)".contains("differs from") }
    }
}
