import Core
import JSON
import Ledger
import Postgres
import SQL
import Service
import TestSupport
import Testing

@Suite("What waits, found in a log that is older than its tables")
struct UnclaimedMigrationTests {
    private let service: TestService
    private var database: ScratchDatabase { service.database }

    init() throws {
        service = try TestService()
    }

    private func buy(
        _ product: String, _ kind: ProductKind, _ number: Int, for customer: String,
        token: String? = nil
    ) throws {
        var fact = try TransactionFact.bought(
            product, kind, transaction: "\(number)", at: service.clock.now)
        fact.accountToken = token
        _ = try service.ports.ledger.append(
            .record([fact], for: .test(customer), key: "buy \(number)"))
    }

    private func rows(_ table: String) throws -> Int64 {
        try database.number(
            "select coalesce(sum(hashtextextended(t::text, 0) % 1000000007), 0)::bigint "
                + "from deed.\(table) as t")
    }

    @Test("The migration makes the rows that the same log leads to")
    func sameRows() throws {
        try buy("early", .consumable, 1, for: "u1")
        let catalog = #"{"products":[{"id":"coins","kind":"consumable","credits":{"coins":1}}]}"#
        let put = service.send(
            "PUT", "/v1/catalog", key: try service.key(.admin), body: catalog)
        #expect(put.status == 200)
        try buy("coins", .consumable, 2, for: "u1")
        try buy("later", .consumable, 3, for: "u2")
        try buy("later", .nonConsumable, 4, for: "u2")
        let token = "6F0A4F0E-8A0E-4B43-9F5D-0D1B6C0F8A11"
        try buy("level", .nonConsumable, 5, for: "$unclaimed/apple:5", token: token)
        try buy("later", .consumable, 6, for: "$unclaimed/apple:6", token: "no token")
        let tables = ["unclaimed", "unclaimed_tokens", "waiting_credits"]
        for (table, count) in zip(tables, [2, 1, 2] as [Int64]) {
            #expect(try database.number("select count(*) from deed.\(table)") == count)
        }
        let before = try tables.map(rows)
        try database.run("drop table deed.unclaimed, deed.unclaimed_tokens, deed.waiting_credits")
        try database.run("drop function deed.guard_tokens, deed.await_tokens")
        let migration = try #require(Migration.all.first { $0.name.hasSuffix("_unclaimed") })
        var owner = try Connection.open(database.settings())
        try owner.run(migration.script)
        #expect(try tables.map(rows) == before)
    }
}
