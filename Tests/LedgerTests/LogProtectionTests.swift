import Core
import Ledger
import Postgres
import TestSupport
import Testing

@Suite("The log only grows")
struct LogProtectionTests {
    @Test(
        "The service's role may not change the log",
        arguments: [
            "update deed.events set payload = '{}'", "delete from deed.events",
            "truncate deed.events", "alter table deed.events disable trigger all",
            "drop table deed.events", "update deed.migrations set number = 9",
        ])
    func service(_ statement: String) throws {
        let database = try ScratchDatabase()
        #expect(throws: PostgresError.self) {
            try database.run(statement, role: LedgerSettings.serviceRole)
        }
        #expect {
            try database.run(statement, role: LedgerSettings.serviceRole)
        } throws: { ($0 as? PostgresError)?.sqlState == "42501" }
    }

    @Test(
        "A trigger refuses changes to the owner too",
        arguments: [
            "update deed.events set payload = '{}'", "delete from deed.events",
            "truncate deed.events", "truncate deed.shards", "delete from deed.shards",
            "update deed.shards set head = 0 where head > 0",
        ])
    func owner(_ statement: String) throws {
        let database = try ScratchDatabase()
        let ledger = database.ledger()
        _ = try ledger.append(.give("pro", to: .test("u1"), grant: "g1"))
        ledger.close()
        #expect {
            try database.run(statement)
        } throws: { ($0 as? PostgresError)?.sqlState == "DD001" }
    }
}
