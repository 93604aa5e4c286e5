import Core
import Ledger
import Postgres
import SQL
import TestSupport
import Testing

@Suite("Migrations")
struct SchemaTests {
    private let now = Instant(milliseconds: 0)

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

    @Test("If nothing is missing, nothing waits for another migrator", .timeLimit(.minutes(10)))
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
