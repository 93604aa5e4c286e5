import Core
import Histories
import JSON
import Minting
import Service
import TestSupport
import Testing

/// The project's rules in the words of the page.
private let rules = ["keep", "transfer_if_inactive", "transfer"]

@Suite("Purchases whose token names their holder, over the API")
struct NamedHolderCallTests {
    private static let token = "6f0a4f0e-8a0e-4b43-9f5d-0d1b6c0f8a11"
    private static let other = "6f0a4f0e-8a0e-4b43-9f5d-0d1b6c0f8a12"

    private func front(_ rule: String) throws -> Storefront {
        try Storefront(settings: #"{"transfer":"\#(rule)"}"#)
    }

    /// Returns a period of a subscription, this many months ago.
    private func month(
        _ front: Storefront, _ ago: Int64, token: String? = nil, transaction: String? = nil
    ) -> Sale {
        let start = 10 + 30 * ago
        return Sale(
            transaction ?? "\(10 - ago)", of: "1", "pro.month", .autoRenewable,
            at: front.daysAgo(start), until: front.daysAgo(start - 30)
        ).with { $0.token = token }
    }

    private func register(_ front: Storefront, _ customer: String, _ token: String = token) -> Reply
    {
        front.send("PUT", "/v1/customers/\(customer)/account_token", #"{"token":"\#(token)"}"#)
    }

    private func holder(_ front: Storefront) throws -> String {
        try front.service.database.text(
            "select string_agg(customer, ' ') from deed.holders where original = '1'")
    }

    @Test(
        "Evidence without a token takes nothing from a named customer", arguments: rules)
    func bareEvidence(rule: String) throws {
        let front = try front(rule)
        #expect(register(front, "victim").status == 200)
        #expect(
            try front.submit(month(front, 0, token: Self.token), for: "victim").outcomes == [
                "recorded"
            ])
        for restore in [false, true] {
            let reply = front.submit(month(front, 0), for: "thief", restore: restore)
            #expect(try reply.outcomes == ["held_by_another"])
        }
        #expect(try front.isActive("pro", for: "victim") == true)
        #expect(try front.isActive("pro", for: "thief") != true)
        #expect(try holder(front) == "victim")
    }

    @Test(
        "A thief does not get a lapsed purchase, and the victim has the paid renewal at once",
        arguments: rules)
    func lapsed(rule: String) throws {
        let front = try front(rule)
        #expect(register(front, "victim").status == 200)
        #expect(
            try front.submit(month(front, 2, token: Self.token), for: "victim").outcomes == [
                "recorded"
            ])
        #expect(try front.submit(month(front, 2), for: "thief").outcomes == ["held_by_another"])
        #expect(
            try front.submit(month(front, 0, token: Self.token), for: "victim").outcomes == [
                "recorded"
            ])
        #expect(try front.isActive("pro", for: "victim") == true)
        #expect(try front.events(of: "thief") == [])
    }

    @Test(
        "A purchase taken without a token returns with the token, even within the cool-down",
        arguments: rules)
    func comesHome(rule: String) throws {
        let front = try front(rule)
        #expect(register(front, "victim").status == 200)
        _ = front.submit(month(front, 2), for: "first")
        _ = front.submit(month(front, 2), for: "thief")
        #expect(try holder(front) == (rule == "keep" ? "first" : "thief"))
        // The victim pays. The purchase's token names the victim, and it counts no matter who sends the evidence.
        let news = front.store.notification(
            "DID_RENEW", id: "n1", at: front.daysAgo(0),
            transaction: front.store.transaction(month(front, 0, token: Self.token)))
        #expect(front.notify(news).status == 200)
        #expect(try holder(front) == "victim")
        #expect(try front.isActive("pro", for: "victim") == true)
        #expect(try front.isActive("pro", for: "thief") != true)
        #expect(try front.submit(month(front, 0), for: "thief").outcomes == ["held_by_another"])
        // The event tells support why the purchase moved.
        let events = try front.send("GET", "/v1/customers/victim/events").json["events"]?.array
        let attached = events?.first { $0["type"]?.string == "purchase.attached" }
        #expect(attached?["data"]?["cause"]?["kind"]?.string == "named")
        #expect(attached?["data"]?["cause"]?["token"]?.string == Self.token)
        let why = front.send("GET", "/v1/customers/victim/explain?entitlement=pro")
        #expect(why.text.contains(Self.token), "\(why.text)")
    }

    @Test("A sender loses what a token gives to another, and only learns that it was refused")
    func ownHand() throws {
        let front = try front("transfer")
        #expect(register(front, "victim").status == 200)
        #expect(try front.submit(month(front, 2), for: "thief").outcomes == ["recorded"])
        let sent = front.signed([month(front, 0, token: Self.token)])
        let reply = front.submit(sent, for: "thief", idempotencyKey: "k")
        #expect(try reply.outcomes == ["held_by_another"])
        #expect(!reply.text.contains("victim") && !reply.text.contains(Self.token))
        #expect(try holder(front) == "victim")
        #expect(front.submit(sent, for: "thief", idempotencyKey: "k").text == reply.text)
    }

    @Test("A token that is registered later brings what another customer took", arguments: rules)
    func laterToken(rule: String) throws {
        let front = try front(rule)
        _ = front.submit(month(front, 0, token: Self.token), for: "thief")
        #expect(try front.isActive("pro", for: "thief") == true)
        #expect(register(front, "victim").status == 200)
        #expect(try holder(front) == "victim")
        #expect(try front.isActive("pro", for: "victim") == true)
        #expect(try front.isActive("pro", for: "thief") == false)
        #expect(try front.events(of: "victim") == ["token.registered", "purchase.attached"])
        #expect(try front.events(of: "thief").last == "purchase.detached")
        #expect(try front.service.database.number("select count(*) from deed.carried_tokens") == 0)
        let events = try front.service.eventCount()
        #expect(register(front, "victim").status == 200)
        #expect(try front.service.eventCount() == events)
    }

    @Test("Among two customers, the first period's token decides under keep, else the last's")
    func several() throws {
        for (rule, expected) in zip(rules, ["first", "second", "second"]) {
            for order in [[1, 0], [0, 1]] as [[Int64]] {
                let front = try front(rule)
                #expect(register(front, "first", Self.token).status == 200)
                // The second customer's token is registered either first or after all evidence.
                if order[0] == 0 { #expect(register(front, "second", Self.other).status == 200) }
                for ago in order {
                    _ = front.submit(
                        month(front, ago, token: ago == 1 ? Self.token : Self.other), for: "bearer")
                }
                if order[0] == 1 { #expect(register(front, "second", Self.other).status == 200) }
                #expect(try holder(front) == expected, "\(rule) \(order)")
                #expect(try front.isActive("pro", for: expected) == true)
                #expect(
                    try front.service.database.number("select count(*) from deed.carried_tokens")
                        == 0)
            }
        }
    }

    @Test("A purchase that an admin moved stays, whatever evidence comes", arguments: rules)
    func admin(rule: String) throws {
        let front = try front(rule)
        #expect(register(front, "victim").status == 200)
        _ = front.submit(month(front, 0, token: Self.token), for: "victim")
        let moved = front.send(
            "POST", "/v1/customers/victim/purchases/apple:1/transfer",
            #"{"to":"new-account","reason":"asked"}"#, key: front.admin)
        #expect(moved.status == 200, "\(moved.text)")
        for customer in ["victim", "thief"] {
            let reply = front.submit(month(front, 0, token: Self.token), for: customer)
            #expect(try reply.outcomes == ["held_by_another"])
        }
        #expect(try front.submit(month(front, 0), for: "thief").outcomes == ["held_by_another"])
        #expect(try holder(front) == "new-account")
        let undone = front.send(
            "POST", "/v1/customers/new-account/purchases/apple:1/undo_transfer",
            #"{"reason":"wrong"}"#, key: front.admin)
        #expect(undone.status == 200, "\(undone.text)")
        #expect(try holder(front) == "victim")
    }

    @Test("A purchase that an admin moved stays even if the token is registered later")
    func adminBeforeToken() throws {
        let front = try front("transfer")
        _ = front.submit(month(front, 0, token: Self.token), for: "bearer")
        _ = front.send(
            "POST", "/v1/customers/bearer/purchases/apple:1/transfer",
            #"{"to":"new-account","reason":"asked"}"#, key: front.admin)
        #expect(try front.service.database.number("select count(*) from deed.carried_tokens") == 0)
        #expect(register(front, "victim").status == 200)
        #expect(try holder(front) == "new-account")
    }

    @Test("Credited coins stay with their customer, even if the token becomes known later")
    func coins() throws {
        let front = try front("transfer")
        let sale = Sale("1", "coins.100", .consumable, at: front.daysAgo(1)).with {
            $0.token = Self.token
        }
        #expect(try front.submit(sale, for: "bearer").outcomes == ["recorded"])
        #expect(try front.service.database.number("select count(*) from deed.carried_tokens") == 0)
        #expect(register(front, "victim").status == 200)
        #expect(try front.submit(sale, for: "victim").outcomes == ["held_by_another"])
        #expect(try front.coins(of: "bearer") == 100)
        #expect(try front.coins(of: "victim") == nil)
    }

    @Test("A forged row gives nobody a purchase, and blocks nobody")
    func forgedRow() throws {
        let front = try front("transfer")
        _ = front.submit(month(front, 0, token: Self.token), for: "u1")
        try front.service.database.run(
            "update deed.carried_tokens set token = '\(Self.other)'", role: "deed_service")
        #expect(register(front, "thief", Self.other).status == 200)
        #expect(try holder(front) == "u1")
        #expect(try front.service.database.number("select count(*) from deed.carried_tokens") == 0)
        // Evidence that names a customer moves the purchase to that customer.
        #expect(register(front, "victim").status == 200)
        #expect(
            try front.submit(month(front, 0, token: Self.token), for: "victim").outcomes == [
                "recorded"
            ])
        #expect(try holder(front) == "victim")
    }

    @Test("Evidence meets the token that it carries, however close together they come")
    func race() throws {
        let front = try front("transfer")
        let other = try TestService(beside: front.service)
        try other.apps.reload()
        for round in 0..<30 {
            let token = AccountToken(random: [UInt8](repeating: UInt8(round), count: 16)).text
            let sale = Sale(
                "r\(round)", "pro.month", .autoRenewable, at: front.daysAgo(1),
                until: front.daysAgo(-29)
            ).with { $0.token = token }
            inParallel(2) { lane in
                if lane == 0 {
                    _ = front.send(
                        "POST", "/v1/customers/thief/receipts", front.signed([sale]).text,
                        through: round % 2 == 0 ? other : nil)
                } else {
                    _ = front.send(
                        "PUT", "/v1/customers/c\(round)/account_token", #"{"token":"\#(token)"}"#)
                }
            }
            #expect(try front.isActive("pro", for: "c\(round)") == true, "round \(round)")
        }
        #expect(try front.isActive("pro", for: "thief") != true)
        #expect(try front.service.database.number("select count(*) from deed.carried_tokens") == 0)
    }
}
