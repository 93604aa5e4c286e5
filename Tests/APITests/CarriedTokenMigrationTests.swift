import Core
import Ledger
import Minting
import Postgres
import SQL
import TestSupport
import Testing

@Suite("Tokens that purchases carry, found in a log that is older than their table")
struct CarriedTokenMigrationTests {
    private let front: Storefront
    private var database: ScratchDatabase { front.service.database }

    init() throws {
        front = try Storefront(settings: #"{"transfer":"transfer"}"#)
    }

    private func token(_ number: Int) -> String {
        AccountToken(random: [UInt8](repeating: UInt8(number), count: 16)).text.uppercased()
    }

    private func buy(
        _ product: String, _ kind: ProductKind, _ number: Int, for customer: String,
        tokens: [Int?]
    ) throws {
        for (statement, token) in tokens.enumerated() {
            let sale = Sale("\(number)", product, kind, at: front.daysAgo(9)).with {
                $0.token = token.map(self.token)
                $0.signedAt = front.daysAgo(9 - Int64(statement))
            }
            #expect(try front.submit(sale, for: customer).outcomes == ["recorded"])
        }
    }

    private func rows() throws -> String {
        try database.text(
            "select coalesce(string_agg(t::text, ' ' order by t::text), '') "
                + "from deed.carried_tokens as t")
    }

    @Test("The migration makes the rows that the same log leads to")
    func sameRows() throws {
        try buy("level2", .nonConsumable, 1, for: "u1", tokens: [1])
        // A newer statement without the token, and one with another.
        try buy("level2", .nonConsumable, 2, for: "u1", tokens: [2, nil, 3])
        // Credited, and by a catalog that does not know the product.
        try buy("coins.100", .consumable, 3, for: "u1", tokens: [4])
        try buy("gems.10", .consumable, 4, for: "u1", tokens: [5])
        // Moved by the project's rule, and by an admin.
        try buy("level2", .nonConsumable, 5, for: "u1", tokens: [6])
        try buy("level2", .nonConsumable, 5, for: "u2", tokens: [nil])
        try buy("level2", .nonConsumable, 6, for: "u1", tokens: [7])
        let moved = front.send(
            "POST", "/v1/customers/u1/purchases/apple:6/transfer",
            #"{"to":"u2","reason":"asked"}"#, key: front.admin)
        #expect(moved.status == 200, "\(moved.text)")
        // A token that a customer has, and none at all.
        let body = #"{"token":"\#(token(8))"}"#
        #expect(front.send("PUT", "/v1/customers/u1/account_token", body).status == 200)
        try buy("level2", .nonConsumable, 7, for: "u1", tokens: [8])
        try buy("level2", .nonConsumable, 8, for: "u1", tokens: [nil])
        let before = try rows()
        #expect(try database.number("select count(*) from deed.carried_tokens") == 5)
        try database.run("drop table deed.carried_tokens")
        try database.run("drop function deed.carry_tokens")
        let migration = try #require(Migration.all.first { $0.name.hasSuffix("_carried_tokens") })
        var owner = try Connection.open(database.settings())
        try owner.run(migration.script)
        #expect(try rows() == before)
    }
}
