import Core
import JSON
import Minting
import Service
import Synchronization
import TestSupport
import Testing

@Suite("Writes that are rehearsed, or bound to versions of customers")
struct RehearsalCallTests {
    private let front: Storefront

    init() throws {
        front = try Storefront()
        #expect(front.submit(level("1"), coins("2")).status == 200)
        #expect(front.submit(month("3"), for: "u2").status == 200)
        #expect(give("season", to: "u1", "first").status == 201)
    }

    private func level(_ name: String) -> Sale {
        Sale(name, "level2", .nonConsumable, at: front.daysAgo(2))
    }

    private func coins(_ name: String) -> Sale {
        Sale(name, "coins.100", .consumable, at: front.daysAgo(2))
    }

    private func month(_ name: String) -> Sale {
        Sale(
            name, "pro.month", .autoRenewable, at: front.daysAgo(2), until: front.daysAgo(-28))
    }

    private func give(_ entitlement: String, to customer: String, _ key: String) -> Reply {
        front.send(
            "POST", "/v1/customers/\(customer)/grants",
            #"{"entitlement":"\#(entitlement)","for":"P30D","reason":"r"}"#, key: front.admin,
            idempotencyKey: key)
    }

    private func grant() throws -> String {
        try #require(try give("season", to: "u1", "first").json["grant"]?["id"]?.string)
    }

    /// A call that writes, and the customers concerned.
    private struct Deed {
        let method: String
        let path: String
        let body: String
        var customers = ["u1"]
    }

    private func deeds() throws -> [Deed] {
        let grant = try grant()
        let unclaimed = front.store.notification(
            "SUBSCRIBED", id: "n", at: front.daysAgo(0),
            transaction: front.store.transaction(
                month("9").with { $0.token = "6f0a4f0e-8a0e-4b43-9f5d-0d1b6c0f8a11" }))
        #expect(front.notify(unclaimed).status == 200)
        let why = #""reason":"r""#
        return [
            Deed(
                method: "POST", path: "customers/u1/grants",
                body: #"{"entitlement":"pro","for":"P30D",\#(why)}"#),
            Deed(
                method: "PATCH", path: "customers/u1/grants/\(grant)",
                body: #"{"for":"P60D",\#(why)}"#),
            Deed(method: "DELETE", path: "customers/u1/grants/\(grant)", body: "{\(why)}"),
            Deed(
                method: "POST", path: "customers/u1/balances/coins/adjust",
                body: #"{"amount":-30,\#(why)}"#),
            Deed(
                method: "POST", path: "customers/u1/balances/coins/spend",
                body: #"{"amount":5}"#),
            Deed(
                method: "POST", path: "customers/u1/grants",
                body: #"{"entitlement":"pro","start":"after_current","for":"P7D",\#(why)}"#),
            Deed(
                method: "POST", path: "customers/u1/purchases/apple:2/block",
                body: "{\(why)}"),
            Deed(
                method: "POST", path: "customers/u1/purchases/apple:2/unblock",
                body: "{\(why)}"),
            Deed(
                method: "POST", path: "customers/u1/purchases/apple:1/transfer",
                body: #"{"to":"u2",\#(why)}"#, customers: ["u1", "u2"]),
            Deed(
                method: "POST", path: "customers/u2/purchases/apple:1/undo_transfer",
                body: "{\(why)}", customers: ["u2", "u1"]),
            Deed(
                method: "POST", path: "unclaimed/apple:9/attach",
                body: #"{"customer":"u1",\#(why)}"#),
        ]
    }

    /// What reads answer about a customer, without the id of a rehearsal's grant, which has none yet.
    private func answers(of customer: String) throws -> String {
        let read = try front.send("GET", "/v1/customers/\(customer)/entitlements").json
        let balances = try front.send("GET", "/v1/customers/\(customer)/balances").json
        let both: JSON = [
            "entitlements": try #require(read["entitlements"]),
            "balances": try #require(balances["balances"]),
        ]
        return unnamed(both.text)
    }

    private func unnamed(_ text: String) -> String {
        text.replacing(/"grant":"g_[a-z0-9]*"/, with: #""grant":"g""#)
    }

    @Test("What a rehearsal says is what reads answer before the deed and after it")
    func same() throws {
        for deed in try deeds() {
            let target = "/v1/\(deed.path)"
            let before = try front.service.eventCount()
            let rehearsed = front.send(
                deed.method, target + "?dry_run=1", deed.body, key: front.admin,
                idempotencyKey: "kept free")
            #expect(rehearsed.status == 200, "\(deed.path): \(rehearsed.text)")
            #expect(try front.service.eventCount() == before, "\(deed.path)")
            #expect(try rehearsed.json["dry_run"]?.bool == true)
            let sides = try #require(try rehearsed.json["customers"]?.array)
            #expect(sides.compactMap { $0["customer"]?.string } == deed.customers)
            for (side, customer) in zip(sides, deed.customers) {
                #expect(
                    unnamed(side["before"]?.text ?? "") == (try answers(of: customer)),
                    "\(deed.path)")
            }
            let done = front.send(deed.method, target, deed.body, key: front.admin)
            #expect(done.status < 300, "\(deed.path): \(done.text)")
            for (side, customer) in zip(sides, deed.customers) {
                #expect(
                    unnamed(side["after"]?.text ?? "") == (try answers(of: customer)),
                    "\(deed.path)")
            }
        }
    }

    @Test("The refusal of a rehearsal is that of the deed")
    func refused() throws {
        for (method, path, body) in [
            ("DELETE", "customers/u1/grants/g_none", #"{"reason":"r"}"#),
            ("PATCH", "customers/u1/grants/g_none", #"{"for_ever":true,"reason":"r"}"#),
            ("POST", "customers/u1/grants", #"{"entitlement":"por","reason":"r"}"#),
            ("POST", "customers/u1/purchases/apple:2/transfer", #"{"to":"u2","reason":"r"}"#),
            ("POST", "customers/u1/purchases/apple:2/unblock", #"{"reason":"r"}"#),
            ("POST", "customers/u1/purchases/apple:1/undo_transfer", #"{"reason":"r"}"#),
            ("POST", "unclaimed/apple:1/attach", #"{"customer":"u1","reason":"r"}"#),
        ] {
            let rehearsed = front.send(method, "/v1/\(path)?dry_run=1", body, key: front.admin)
            let refused = front.send(method, "/v1/\(path)", body, key: front.admin)
            #expect(rehearsed.status >= 400, "\(path)")
            #expect(rehearsed.text == refused.text)
        }
    }

    @Test(
        "A version that is not the customer's any more refuses the deed, and tells the present one")
    func versions() throws {
        for (number, deed) in try deeds().enumerated() {
            let target = "/v1/\(deed.path)"
            let rehearsed = front.send(
                deed.method, target + "?dry_run=1", deed.body, key: front.admin)
            let sides = try #require(try rehearsed.json["customers"]?.array, "\(rehearsed.text)")
            let versions = sides.compactMap { $0["version"]?.integer }
            for place in versions.indices {
                var others = versions
                others[place] += 1
                let text = others.map(String.init).joined(separator: ",")
                for parameters in ["if_version=\(text)", "if_version=\(text)&dry_run=1"] {
                    let reply = front.send(
                        deed.method, "\(target)?\(parameters)", deed.body, key: front.admin)
                    #expect(reply.status == 409, "\(deed.path): \(reply.text)")
                    #expect(reply.code == "customer_changed_meanwhile")
                    #expect(try reply.json["version"]?.integer == versions[place])
                    #expect(try reply.json["customer"]?.string == deed.customers[place])
                }
            }
            let text = versions.map(String.init).joined(separator: ",")
            let done = front.send(
                deed.method, "\(target)?if_version=\(text)", deed.body, key: front.admin,
                idempotencyKey: "deed \(number)")
            #expect(done.status < 300, "\(deed.path): \(done.text)")
            // The same call is the same request, although the customer's version has changed.
            let again = front.send(
                deed.method, "\(target)?if_version=\(text)", deed.body, key: front.admin,
                idempotencyKey: "deed \(number)")
            #expect(again.text == done.text)
        }
    }

    @Test(
        "Parameters that are no versions, or not of all whom it concerns, are refused by name",
        arguments: [
            ("customers/u1/grants", #"{"entitlement":"pro","reason":"r"}"#, "if_version=x"),
            ("customers/u1/grants", #"{"entitlement":"pro","reason":"r"}"#, "if_version=-1"),
            ("customers/u1/grants", #"{"entitlement":"pro","reason":"r"}"#, "if_version="),
            ("customers/u1/grants", #"{"entitlement":"pro","reason":"r"}"#, "if_version=1,2"),
            (
                "customers/u1/purchases/apple:1/transfer", #"{"to":"u2","reason":"r"}"#,
                "if_version=1"
            ),
            (
                "customers/u1/purchases/apple:1/transfer", #"{"to":"u2","reason":"r"}"#,
                "if_version=1,2,3"
            ),
            ("customers/u1/grants", #"{"entitlement":"pro","reason":"r"}"#, "dry_run=maybe"),
        ])
    func invalid(_ path: String, _ body: String, _ parameter: String) throws {
        let before = try front.service.eventCount()
        let reply = front.send("POST", "/v1/\(path)?\(parameter)", body, key: front.admin)
        #expect(reply.status == 400)
        #expect(reply.code == "invalid_member")
        #expect(try reply.json["member"]?.string == String(parameter.prefix { $0 != "=" }))
        #expect(try front.service.eventCount() == before)
    }

    @Test("Of many who saw the same version one wins, round after round")
    func race() throws {
        let front = front
        for round in 0..<5 {
            let seen = front.send(
                "POST", "/v1/customers/u9/balances/coins/adjust?dry_run=1",
                #"{"amount":1,"reason":"r"}"#, key: front.admin)
            let version = try #require(
                try seen.json["customers"]?.array?.first?["version"]?.integer)
            let statuses = Mutex<[Int]>([])
            inParallel(16) { number in
                let (path, body) =
                    number % 2 == 0
                    ? ("balances/coins/adjust", #"{"amount":1,"reason":"r"}"#)
                    : ("grants", #"{"entitlement":"pro","for":"P1D","reason":"r"}"#)
                let reply = front.send(
                    "POST", "/v1/customers/u9/\(path)?if_version=\(version)", body,
                    key: front.admin)
                statuses.withLock { $0.append(reply.status) }
            }
            let all = statuses.withLock { $0 }
            #expect(all.filter { $0 < 300 }.count == 1, "round \(round): \(all)")
            #expect(all.filter { $0 == 409 }.count == 15, "round \(round): \(all)")
        }
        let events = try front.events(of: "u9")
        #expect(events.count == 5)
        let moved = events.filter { $0 == "balance.adjusted" }.count
        #expect(try front.coins(of: "u9") == (moved == 0 ? nil : Int64(moved)))
    }

    @Test("Where the sandbox counts in production, a rehearsal tells it as reads do")
    func sandbox() throws {
        let sale = Sale(
            "5", "pro.month", .autoRenewable, at: front.daysAgo(1), until: front.daysAgo(-1))
        let allowed = front.send(
            "PUT", "/v1/apps/\(Payload.bundleID)", #"{"sandbox_access":"all"}"#, key: front.admin)
        #expect(allowed.status == 200)
        let evidence: JSON = [
            "signed_transactions": [.string(front.sandbox.transaction(sale))]
        ]
        #expect(front.submit(evidence, for: "u3").status == 200)
        let body = #"{"entitlement":"level2","for":"P3D","reason":"r"}"#
        let rehearsed = front.send(
            "POST", "/v1/customers/u3/grants?dry_run=1", body, key: front.admin)
        #expect(front.send("POST", "/v1/customers/u3/grants", body, key: front.admin).status == 201)
        let after = try #require(try rehearsed.json["customers"]?.array?.first?["after"])
        #expect(unnamed(after.text) == (try answers(of: "u3")))
        #expect(after["entitlements"]?["pro"]?["sandbox"]?.bool == true)
    }
}
