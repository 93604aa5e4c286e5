import Core
import JSON
import Minting
import Service
import TestSupport
import Testing

/// An attempt by a database login to change rows without Deed.
private struct ForgedRow: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// The statement that alters the rows. `mend` restores them.
    let forge: String
    let mend: String
    /// Whether the store's news of the second purchase depends on this row.
    let isInNews: Bool

    init(_ name: String, _ forge: String, _ mend: String, isInNews: Bool = true) {
        testDescription = name
        self.forge = forge
        self.mend = mend
        self.isInNews = isInNews
    }
}

@Suite("Rows prove nothing")
struct ForgedRowTests {
    private static let token = "6f0a4f0e-8a0e-4b43-9f5d-0d1b6c0f8a11"
    private static let other = "6f0a4f0e-8a0e-4b43-9f5d-0d1b6c0f8a12"
    private let front: Storefront

    init() throws {
        front = try Storefront()
    }

    private func coins(_ transaction: String, token: String? = Self.token) -> Sale {
        Sale(transaction, "coins.100", .consumable, at: front.daysAgo(1)).with { $0.token = token }
    }

    private func notify(_ sale: Sale, _ id: String) -> Reply {
        front.notify(
            front.store.notification(
                "ONE_TIME_CHARGE", id: id, at: front.daysAgo(0),
                transaction: front.store.transaction(sale)))
    }

    private func register(_ token: String, for customer: String) -> Reply {
        front.send("PUT", "/v1/customers/\(customer)/account_token", #"{"token":"\#(token)"}"#)
    }

    private func forge(_ text: String) throws {
        try front.service.database.run(text, role: "deed_service")
    }

    @Test("A waiting purchase comes by the tokens in its evidence, and not by a row alone")
    func waiting() throws {
        #expect(notify(coins("1"), "n1").status == 200)
        try forge(
            """
            insert into deed.unclaimed_tokens values
                ('default', 'production', '\(Self.other)', 'apple', '1', '\(Payload.bundleID)')
            """)
        #expect(register(Self.other, for: "thief").status == 200)
        #expect(try front.coins(of: "thief") == nil)
        let left = "select count(*) from deed.unclaimed_tokens where token = '\(Self.other)'"
        #expect(try front.service.database.number(left) == 0)
        #expect(register(Self.token, for: "u1").status == 200)
        #expect(try front.coins() == 100)
    }

    @Test("A token in earlier evidence still brings the waiting purchase")
    func supersededToken() throws {
        #expect(notify(coins("1"), "n1").status == 200)
        var later = coins("1", token: nil)
        later.signedAt = front.daysAgo(0)
        #expect(notify(later, "n2").status == 200)
        #expect(register(Self.token, for: "u1").status == 200)
        #expect(try front.coins() == 100)
    }

    @Test(
        "No customer gains by a row about a token or a purchase that no event supports",
        arguments: [
            ForgedRow(
                "a token that is pointed elsewhere",
                "update deed.tokens set customer = 'thief'",
                "update deed.tokens set customer = 'u1'"),
            ForgedRow(
                "a holder who is put in place of another",
                "update deed.holders set customer = 'thief' where original = '1'",
                "update deed.holders set customer = 'u1' where original = '1'", isInNews: false),
            ForgedRow(
                "a holder who is put where there is none",
                """
                insert into deed.holders values
                    ('default', 'apple', 'production', '\(Payload.bundleID)', '2', 'thief')
                """,
                """
                update deed.holders set customer = '$unclaimed/apple:2' where original = '2'
                """),
        ])
    fileprivate func pointedElsewhere(_ row: ForgedRow) throws {
        #expect(register(Self.token, for: "u1").status == 200)
        #expect(notify(coins("1"), "n1").status == 200)
        #expect(try front.coins() == 100)
        try forge(row.forge)
        let events = try front.service.eventCount()
        let news = row.isInNews ? [notify(coins("2"), "n2")] : []
        let replies = [
            front.submit(coins("1"), coins("2"), for: "thief"),
            front.submit(coins("1"), coins("2"), for: "thief", restore: true),
        ]
        for reply in news + replies {
            #expect(reply.status == 503 && reply.code == "row_unproven", "\(reply.text)")
            #expect(reply.header("Retry-After") != nil)
        }
        #expect(try front.coins(of: "thief") == nil)
        #expect(try front.service.eventCount() == events)
        #expect(front.service.logged.all.contains { $0.contains("no event does") })
        try forge(row.mend)
        if row.mend.contains("$unclaimed") { return }
        #expect(notify(coins("2"), "n2").status == 200)
        #expect(try front.coins() == 200)
        #expect(try front.submit(coins("1"), for: "thief").outcomes == ["held_by_another"])
    }

    @Test("Another customer cannot register a token that only a row gives to someone")
    func givenToken() throws {
        try forge(
            "insert into deed.tokens values ('default', 'production', '\(Self.token)', 'thief')")
        #expect(register(Self.token, for: "u1").code == "row_unproven")
        #expect(notify(coins("1"), "n1").code == "row_unproven")
    }

    @Test("An app belongs to the project whose events say so, never by a row alone")
    func apps() throws {
        try front.service.createProject("other")
        try forge("update deed.apps set project = 'other'")
        try front.service.apps.reload()
        #expect(notify(coins("1"), "n1").status != 200)
        #expect(
            try front.service.database.number(
                "select count(*) from deed.events where project = 'other' and customer <> '$project/'"
            )
                == 0)
        try forge("update deed.apps set project = 'default'")
        try front.service.apps.reload()
        #expect(notify(coins("1"), "n1").status == 200)
    }
}
