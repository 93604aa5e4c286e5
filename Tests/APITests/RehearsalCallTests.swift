import Core
import JSON
import Minting
import Service
import Synchronization
import TestSupport
import Testing

@Suite("Writes that are rehearsed, or bound to versions of customers")
struct RehearsalCallTests {
    private let stage: Stage
    private var front: Storefront { stage.front }

    /// Also gives something to the customers to whom purchases go.
    init() throws {
        stage = try Stage(in: .production)
        let month = Sale(
            "3", "pro.month", .autoRenewable, at: front.daysAgo(2), until: front.daysAgo(-28))
        #expect(front.submit(month, for: "u2").status == 200)
        let level = Sale("4", "level2", .nonConsumable, at: front.daysAgo(2))
        #expect(front.submit(level, for: "u3").status == 200)
    }

    /// A call that writes, and the customers that it concerns.
    private struct Deed {
        let method: String
        let target: String
        let body: String
        var customers = ["u1"]

        /// Further deeds of one customer.
        init(_ path: String, _ body: String) {
            (method, target, self.body) = ("POST", "/v1/customers/u1/\(path)", body)
        }

        init(_ row: Stage.Row, of stage: Stage) {
            (method, target, body) = (row.method, row.path(stage.names), row.wholeBody())
            customers = row.rehearsed ?? []
        }
    }

    private var deeds: [Deed] {
        Stage.writes.filter { $0.rehearsed != nil }.map { Deed($0, of: stage) } + [
            Deed(
                "grants",
                #"{"entitlement":"pro","start":"after_current","for":"P7D","reason":"r"}"#),
            Deed("balances/coins/adjust", #"{"amount":-30,"reason":"r"}"#),
            Deed("purchases/apple:2/block", #"{"reason":"r"}"#),
            Deed("purchases/apple:2/unblock", #"{"reason":"r"}"#),
        ]
    }

    /// What a rehearsal says about customers in production. Only a merge may also show the sandbox.
    private func sides(_ rehearsed: Reply, of deed: Deed) throws -> [JSON] {
        let all = try #require(try rehearsed.json["customers"]?.array, "\(rehearsed.text)")
        let sides = all.filter { $0["environment"] == "production" }
        if !deed.target.contains("/merge") { #expect(sides == all, "\(rehearsed.text)") }
        return sides
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
        for deed in deeds {
            let before = try front.service.eventCount()
            let rehearsed = front.send(
                deed.method, deed.target + "?dry_run=1", deed.body, key: front.admin,
                idempotencyKey: "kept free")
            #expect(rehearsed.status == 200, "\(deed.target): \(rehearsed.text)")
            #expect(try front.service.eventCount() == before, "\(deed.target)")
            #expect(try rehearsed.json["dry_run"]?.bool == true)
            let sides = try sides(rehearsed, of: deed)
            #expect(sides.compactMap { $0["customer"]?.string } == deed.customers)
            for (side, customer) in zip(sides, deed.customers) {
                #expect(
                    unnamed(side["before"]?.text ?? "") == (try answers(of: customer)),
                    "\(deed.target)")
            }
            let done = front.send(deed.method, deed.target, deed.body, key: front.admin)
            #expect(done.status < 300, "\(deed.target): \(done.text)")
            for (side, customer) in zip(sides, deed.customers) {
                #expect(
                    unnamed(side["after"]?.text ?? "") == (try answers(of: customer)),
                    "\(deed.target)")
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
        for (number, deed) in deeds.enumerated() {
            let rehearsed = front.send(
                deed.method, deed.target + "?dry_run=1", deed.body, key: front.admin)
            let sides = try sides(rehearsed, of: deed)
            let versions = sides.compactMap { $0["version"]?.integer }
            for place in versions.indices {
                var others = versions
                others[place] += 1
                let text = others.map(String.init).joined(separator: ",")
                for parameters in ["if_version=\(text)", "if_version=\(text)&dry_run=1"] {
                    let reply = front.send(
                        deed.method, "\(deed.target)?\(parameters)", deed.body, key: front.admin)
                    #expect(reply.status == 409, "\(deed.target): \(reply.text)")
                    #expect(reply.code == "customer_changed_meanwhile")
                    #expect(try reply.json["version"]?.integer == versions[place])
                    #expect(try reply.json["customer"]?.string == deed.customers[place])
                }
            }
            let text = versions.map(String.init).joined(separator: ",")
            let done = front.send(
                deed.method, "\(deed.target)?if_version=\(text)", deed.body, key: front.admin,
                idempotencyKey: "deed \(number)")
            #expect(done.status < 300, "\(deed.target): \(done.text)")
            // The same call is the same request, although the customer's version has changed.
            let again = front.send(
                deed.method, "\(deed.target)?if_version=\(text)", deed.body, key: front.admin,
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
