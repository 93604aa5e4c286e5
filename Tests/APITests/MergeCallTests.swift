import Auditing
import Core
import JSON
import Ledger
import Minting
import Service
import TestSupport
import Testing

@testable import API

@Suite("Merging customers over the API", .timeLimit(.minutes(20)))
struct MergeCallTests {
    let front: Storefront
    static let token = "6f0a4f0e-8a0e-4b43-9f5d-0d1b6c0f8a11"

    init() throws {
        front = try Storefront()
    }

    func merge(
        _ from: String = "anon", into: String = "ann", query: String = "", key: String? = nil,
        as caller: NewKey? = nil
    ) -> Reply {
        front.send(
            "POST", "/v1/customers/\(from)/merge\(query)",
            #"{"into":"\#(into)","reason":"new phone","ticket":"T-8"}"#, key: caller ?? front.admin,
            idempotencyKey: key)
    }

    func undo(_ from: String = "anon", query: String = "", key: String? = nil) -> Reply {
        front.send(
            "POST", "/v1/customers/\(from)/merge/undo\(query)", #"{"reason":"two players"}"#,
            key: front.admin, idempotencyKey: key)
    }

    func sale(_ transaction: String, _ product: String = "level2") -> Sale {
        switch product {
        case "pro.month":
            Sale(
                transaction, product, .autoRenewable, at: front.daysAgo(1),
                until: front.daysAgo(-29))
        case "coins.100": Sale(transaction, product, .consumable, at: front.daysAgo(1))
        default: Sale(transaction, product, .nonConsumable, at: front.daysAgo(1))
        }
    }

    /// Sends a notification about a sale to Deed, as the store does.
    func notify(_ sale: Sale) -> Reply {
        front.notify(
            front.store.notification(
                "ONE_TIME_CHARGE", id: "n-\(sale.transaction)", at: front.daysAgo(0),
                transaction: front.store.transaction(sale)))
    }

    func admin(_ method: String, _ target: String, _ body: String = "") -> Reply {
        front.send(method, target, body, key: front.admin)
    }

    func coins(of customer: String, in environment: String = "production") throws -> Int64? {
        try front.send("GET", "/v1/customers/\(customer)/balances?environment=\(environment)")
            .json["balances"]?["coins"]?.integer
    }

    /// Buys in both environments, and gives the customer a grant, a token and an open order.
    func buy(as customer: String = "anon") throws {
        #expect(
            front.submit(sale("1", "pro.month"), sale("2", "coins.100"), for: customer).status
                == 200)
        let tested: JSON = [
            "signed_transactions": [.string(front.sandbox.transaction(sale("7", "coins.100")))]
        ]
        #expect(front.submit(tested, for: customer).status == 200)
        #expect(
            admin(
                "POST", "/v1/customers/\(customer)/grants",
                #"{"entitlement":"season","for":"P9D","reason":"r","ticket":"T-1"}"#
            ).status == 201)
        #expect(
            front.send(
                "PUT", "/v1/customers/\(customer)/account_token", #"{"token":"\#(Self.token)"}"#
            ).status == 200)
        #expect(
            front.send(
                "POST", "/v1/customers/\(customer)/orders",
                #"{"order":"o-\#(customer)","product":"coins.100"}"#
            ).status == 201)
    }

    /// Expects the log, the rows and the hash chain to be intact.
    func proveAll(_ location: SourceLocation = #_sourceLocation) throws {
        let auditor = Auditor(front.service.database.settings())
        var projections = ProjectionAudit()
        try projections.compareAll(auditor) { _ in }
        #expect(
            projections.findings.isEmpty, "\(projections.findings.listed)", sourceLocation: location
        )
        for shard in Shard.all {
            let audit = try auditor.audit(shard)
            #expect(audit.findings.isEmpty, "\(audit.findings.listed)", sourceLocation: location)
        }
    }

    @Test("Both are one: reads of the first name the other, who has all of both environments")
    func merged() throws {
        try buy()
        let reply = merge()
        #expect(reply.status == 200, "\(reply.text)")
        let json = try reply.json
        #expect(json["customer"] == "anon" && json["merged_into"] == "ann")
        #expect(json["reason"] == "new phone" && json["ticket"] == "T-8")
        #expect(json["at"] == "2026-11-20T19:21:00.000Z")
        #expect(json["position"]?.string == reply.header("Deed-Position"))
        for path in ["", "/entitlements", "/balances", "/explain?entitlement=pro"] {
            let read = try front.send("GET", "/v1/customers/anon\(path)").json
            #expect(read["merged_into"] == "ann", "\(path)")
        }
        let gone = try front.send("GET", "/v1/customers/anon").json
        #expect(gone["entitlements"]?.text == "{}" && gone["purchases"]?.text == "[]")
        #expect(gone["grants"]?.text == "[]" && gone["orders"]?.text == "[]")
        #expect(gone["balances"]?.text == "{}")
        let whole = try front.send("GET", "/v1/customers/ann").json
        #expect(whole["merged_into"] == nil)
        #expect(try front.isActive("pro", for: "ann") == true)
        #expect(try front.isActive("season", for: "ann") == true)
        #expect(whole["purchases"]?.array?.count == 2 && whole["grants"]?.array?.count == 1)
        #expect(try coins(of: "ann") == 100)
        #expect(try coins(of: "ann", in: "sandbox") == 100)
        #expect(try front.send("GET", "/v1/orders/o-anon").json["customer"] == "ann")
        let one = try front.entitlement("pro", of: "anon")
        #expect(one["active"] == false && one["merged_into"] == "ann")
        let query = try front.send(
            "POST", "/v1/entitlements/query", #"{"customers":["anon","ann"]}"#
        ).json["answers"]?.array
        #expect(query?.first?["merged_into"] == "ann")
        #expect(
            try front.events(of: "anon").suffix(3) == [
                "customer.merged", "purchase.detached", "purchase.detached",
            ])
        #expect(
            try front.events(of: "ann") == [
                "customer.joined", "purchase.attached", "purchase.attached",
            ])
        try proveAll()
    }

    @Test(
        "A dry run tells both sides and does nothing; versions are taken in the order of the call")
    func terms() throws {
        try buy()
        let before = try front.service.eventCount()
        let look = merge(query: "?dry_run=1")
        #expect(look.status == 200, "\(look.text)")
        let sides = try #require(try look.json["customers"]?.array)
        #expect(sides.map { $0["customer"]?.string } == ["anon", "ann", "anon"])
        #expect(sides.map { $0["environment"]?.string } == ["production", "production", "sandbox"])
        #expect(sides[0]["before"]?["balances"]?["coins"] == 100)
        #expect(sides[0]["after"]?["balances"]?.text == "{}")
        #expect(sides[1]["after"]?["entitlements"]?["pro"]?["active"] == true)
        #expect(try front.service.eventCount() == before)
        let version = try #require(sides[0]["version"]?.integer)
        let stale = merge(query: "?if_version=\(version),1")
        #expect(stale.status == 409 && stale.code == "customer_changed_meanwhile")
        #expect(try stale.json["customer"] == "ann")
        #expect(try front.service.eventCount() == before)
        #expect(merge(query: "?if_version=\(version),0").status == 200)
        let back = undo(query: "?dry_run=1")
        #expect(back.status == 200, "\(back.text)")
        #expect(
            try back.json["customers"]?.array?.first?["after"]?["balances"]?["coins"] == 100)
        #expect(try front.events(of: "anon").last == "purchase.detached")
    }

    @Test("Writes of the first customer are refused and name the other one")
    func writes() throws {
        try buy()
        let grant = try #require(
            try front.send("GET", "/v1/customers/anon").json["grants"]?.array?.first?["id"]?
                .string)
        #expect(merge().status == 200)
        let before = try front.service.eventCount()
        let path = "/v1/customers/anon"
        let calls: [(String, String, String, NewKey)] = [
            ("POST", "\(path)/grants", #"{"entitlement":"pro","reason":"r"}"#, front.admin),
            ("PATCH", "\(path)/grants/\(grant)", #"{"for":"P1D","reason":"r"}"#, front.admin),
            ("DELETE", "\(path)/grants/\(grant)", #"{"reason":"r"}"#, front.admin),
            ("POST", "\(path)/notes", #"{"text":"n"}"#, front.admin),
            ("POST", "\(path)/balances/coins/spend", #"{"amount":1}"#, front.backend),
            ("POST", "\(path)/balances/coins/adjust", #"{"amount":1,"reason":"r"}"#, front.admin),
            ("POST", "\(path)/orders", "{}", front.backend),
            (
                "POST", "\(path)/orders/o-anon/close", #"{"because":"cancelled","reason":"r"}"#,
                front.admin
            ),
            ("PUT", "\(path)/account_token", #"{"token":"\#(Self.token)"}"#, front.backend),
            ("POST", "\(path)/receipts", front.signed([sale("9")]).text, front.backend),
            ("POST", "\(path)/restore", front.signed([sale("9")]).text, front.backend),
            (
                "POST", "\(path)/purchases/apple:1/transfer", #"{"to":"ben","reason":"r"}"#,
                front.admin
            ),
            ("POST", "\(path)/purchases/apple:1/undo_transfer", #"{"reason":"r"}"#, front.admin),
            ("POST", "\(path)/purchases/apple:1/block", #"{"reason":"r"}"#, front.admin),
            ("POST", "\(path)/purchases/apple:1/unblock", #"{"reason":"r"}"#, front.admin),
            (
                "POST", "/v1/customers/ann/purchases/apple:1/transfer",
                #"{"to":"anon","reason":"r"}"#, front.admin
            ),
            ("POST", "\(path)/merge", #"{"into":"ben","reason":"r"}"#, front.admin),
            ("POST", "\(path)/erase", #"{"purchases":"free","reason":"r"}"#, front.admin),
        ]
        for (method, target, body, key) in calls {
            let reply = front.send(method, target, body, key: key)
            #expect(reply.status == 409, "\(method) \(target): \(reply.text)")
            #expect(reply.code == "customer_merged", "\(method) \(target): \(reply.text)")
            #expect(try reply.json["merged_into"] == "ann", "\(target)")
        }
        #expect(try front.service.eventCount() == before)
    }

    @Test("Notifications, tokens and orders of the first customer reach the other one years later")
    func later() throws {
        try buy()
        #expect(merge().status == 200)
        front.service.clock.advance(byMilliseconds: 800 * 86_400_000)
        let named = sale("20").with { $0.token = Self.token }
        #expect(notify(named).status == 200)
        #expect(try front.isActive("level2", for: "ann") == true)
        let order = try #require(
            try front.send("GET", "/v1/orders/o-anon").json["order"]?["token"]?.string)
        let ordered = sale("21", "coins.100").with { $0.token = order }
        #expect(front.submit(ordered, for: "ann").status == 200)
        #expect(try coins(of: "ann") == 200)
        #expect(
            try front.send("GET", "/v1/orders/o-anon").json["order"]?["state"] == "fulfilled")
        let taken = front.send(
            "PUT", "/v1/customers/ben/account_token", #"{"token":"\#(Self.token)"}"#)
        #expect(taken.code == "token_taken")
        try proveAll()
    }

    @Test("What was known before the merge is answered as it was, for both")
    func known() throws {
        try buy()
        #expect(front.submit(sale("30"), for: "ann").status == 200)
        let moment = "2026-11-20T19:21:00.000Z"
        front.service.clock.advance(byMilliseconds: 60_000)
        let before = try ["anon", "ann"].map { customer in
            try front.send(
                "GET", "/v1/customers/\(customer)/entitlements?known=\(moment)&at=\(moment)"
            )
            .json["entitlements"]?.text
        }
        #expect(merge().status == 200)
        let after = try ["anon", "ann"].map { customer in
            let read = try front.send(
                "GET", "/v1/customers/\(customer)/entitlements?known=\(moment)&at=\(moment)"
            ).json
            #expect(read["merged_into"] == nil)
            return read["entitlements"]?.text
        }
        #expect(after == before && before[0]?.contains(#""pro":"#) == true)
        #expect(before[1]?.contains(#""pro":"#) == false)
    }

    @Test("An undo gives back what came and is still there, and rows follow the log")
    func undone() throws {
        try buy()
        #expect(merge().status == 200)
        #expect(front.submit(sale("30"), for: "ann").status == 200)
        let reply = undo()
        #expect(reply.status == 200, "\(reply.text)")
        #expect(try reply.json["parted_from"] == "ann")
        #expect(try front.isActive("pro", for: "anon") == true)
        #expect(try front.isActive("pro", for: "ann") == false)
        #expect(try front.isActive("level2", for: "ann") == true)
        #expect(try coins(of: "anon") == 100 && coins(of: "ann") == 0)
        #expect(try coins(of: "anon", in: "sandbox") == 100)
        #expect(try front.send("GET", "/v1/orders/o-anon").json["customer"] == "anon")
        #expect(try front.send("GET", "/v1/customers/anon").json["merged_into"] == nil)
        let named = sale("31").with { $0.token = Self.token }
        #expect(notify(named).status == 200)
        #expect(
            try front.send("GET", "/v1/customers/anon").json["purchases"]?.array?.count == 3)
        try proveAll()
        #expect(undo().code == "not_merged")
        // The second merge includes the purchase made in between.
        #expect(merge().status == 200)
        #expect(undo().status == 200)
        try proveAll()
    }

    @Test("A merge that an erasure has left in one environment alone is undone there")
    func undoneElsewhere() throws {
        try buy()
        #expect(merge().status == 200)
        let body = #"{"purchases":"forget","reason":"asked","environment":"production""#
        let look = admin("POST", "/v1/customers/ann/erase", body + "}")
        let intent = try #require(try look.json["intent"]?.string, "\(look.text)")
        let erased = admin(
            "POST", "/v1/customers/ann/erase", body + #","intent":"\#(intent)"}"#)
        #expect(erased.status == 200, "\(erased.text)")
        let reply = undo()
        #expect(reply.status == 200, "\(reply.text)")
        #expect(try coins(of: "anon", in: "sandbox") == 100)
        #expect(try coins(of: "ann", in: "sandbox") ?? 0 == 0)
        try proveAll()
    }

    @Test("Support lines up no waiting grants beyond its limit by merging customers")
    func waitingGrants() throws {
        #expect(admin("PATCH", "/v1/settings", #"{"support_limits":{"pro":"P30D"}}"#).status == 200)
        let desk = try front.service.key(.support)
        try front.service.keys.reload()
        for customer in ["anon", "ann"] {
            let given = front.send(
                "POST", "/v1/customers/\(customer)/grants",
                #"{"entitlement":"pro","start":"after_current","for":"P20D","reason":"r","ticket":"T"}"#,
                key: desk)
            #expect(given.status == 201, "\(given.text)")
        }
        let refused = merge(as: desk)
        #expect(refused.code == "support_limit", "\(refused.text)")
        #expect(merge().status == 200)
    }

    @Test("Coins that were spent do not go back, and nothing is half done")
    func spent() throws {
        try buy()
        #expect(merge().status == 200)
        #expect(
            front.send("POST", "/v1/customers/ann/balances/coins/spend", #"{"amount":1}"#).status
                == 200)
        let before = try front.service.eventCount()
        let reply = undo()
        #expect(reply.status == 409 && reply.code == "merge_spent", "\(reply.text)")
        #expect(try reply.json["currency"] == "coins" && reply.json["needs"] == 100)
        #expect(try reply.json["missing"]?.text == #"{"coins":1}"#)
        #expect(try front.service.eventCount() == before)
        #expect(
            admin(
                "POST", "/v1/customers/ann/balances/coins/adjust", #"{"amount":1,"reason":"r"}"#
            ).status == 200)
        #expect(undo().status == 200)
        #expect(try coins(of: "anon") == 100 && coins(of: "ann") == 0)
        try proveAll()
    }

    @Test("The same key and body give the same answer, and another body is refused")
    func repetition() throws {
        try buy()
        let first = merge(key: "k")
        let undone = undo(key: "u")
        let events = try front.service.eventCount()
        #expect(merge(key: "k").text == first.text)
        #expect(undo(key: "u").text == undone.text)
        #expect(merge(into: "ben", key: "k").code == "idempotency_mismatch")
        #expect(try front.service.eventCount() == events)
    }
}
