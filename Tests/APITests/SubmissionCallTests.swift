import Core
import JSON
import Minting
import Service
import Synchronization
import TestSupport
import Testing

@Suite("Submitting evidence over the API")
struct SubmissionCallTests {
    private let front: Storefront

    init() throws {
        front = try Storefront()
    }

    private var coins: Sale { Sale("10", "coins.100", .consumable, at: front.daysAgo(1)) }
    private var level: Sale { Sale("20", "level2", .nonConsumable, at: front.daysAgo(1)) }
    private var month: Sale {
        Sale(
            "30", "pro.month", .autoRenewable, at: front.daysAgo(1), until: front.daysAgo(-29))
    }

    @Test("A submission returns each piece's result, and the customer's entitlements")
    func answer() throws {
        let reply = front.submit(coins, month)
        let position = try #require(reply.header("Deed-Position"))
        #expect(reply.status == 200)
        #expect(
            reply.text
                == #"{"items":[{"index":0,"outcome":"recorded","purchase":"apple:10","#
                + #""transaction":"10"},{"index":1,"outcome":"recorded","purchase":"apple:30","#
                + #""transaction":"30"}],"customer":"u1","environment":"production","#
                + #""at":"2026-11-20T19:21:00.000Z","position":"\#(position)","#
                + #""next_change":"2026-12-19T19:21:00.000Z","entitlements":{"pro":{"#
                + #""active":true,"since":"2026-11-19T19:21:00.000Z","#
                + #""until":"2026-12-19T19:21:00.000Z","state":"active","code":"5.0","#
                + #""will_renew":true,"product":"pro.month","kind":"auto_renewable","#
                + #""source":"purchase","purchase":"apple:30","grant":null,"sandbox":false,"#
                + #""next_product":null,"expiration_reason":null}},"balances":{"coins":100}}"#)
        let read = front.send("GET", "/v1/customers/u1/entitlements")
        #expect(try read.json["entitlements"] == reply.json["entitlements"])
        #expect(read.header("Deed-Position") == position)
    }

    @Test("Pieces are answered in the order of the body: receipt, transactions, app transaction")
    func order() throws {
        let body: JSON = [
            "app_transaction": .string(
                front.store.appTransaction(originalVersion: "1.4", at: front.daysAgo(9))),
            "signed_transactions": .array([.string(front.store.transaction(coins)), "no.jws.here"]),
            "receipt": .string(front.store.receipt([level], at: front.daysAgo(0))),
        ]
        let reply = front.submit(body)
        let items = try #require(try reply.json["items"]?.array)
        #expect(
            items.map { $0["index"]?.integer } == [0, 1, 2, 3]
                && items.map { $0["purchase"]?.string } == ["apple:20", "apple:10", nil, nil])
        // The receipt has already reported the installation.
        #expect(try reply.outcomes == ["recorded", "recorded", "refused", "already_known"])
        #expect(items[2]["code"]?.string != nil && items[2]["detail"]?.string != nil)
        #expect(try front.isActive("level2") == true)
        #expect(try front.isActive("legacy") == true)
        #expect(try front.coins() == 100)
    }

    @Test("Repeated evidence is recognized and stored once")
    func again() throws {
        let receipt = front.store.receipt([level, coins], at: front.daysAgo(0))
        #expect(
            try front.submit(["receipt": .string(receipt)]).outcomes == ["recorded", "recorded"])
        let events = try front.service.eventCount()
        #expect(
            try front.submit(["receipt": .string(receipt)]).outcomes
                == ["already_known", "already_known"])
        #expect(try front.service.eventCount() == events)
        #expect(
            try front.service.database.number("select count(*) from deed.evidence") == 1)
    }

    @Test("Refused evidence is named and hides nothing else")
    func refused() throws {
        var foreign = front.store
        foreign.bundleID = "com.example.other"
        let genuine = front.store.transaction(coins)
        let forged = genuine.dropLast(8) + "AAAAAAAA"
        let reply = front.submit([
            "signed_transactions": [
                .string(foreign.transaction(level)), .string(String(forged)), .string(genuine), "",
            ]
        ])
        #expect(try reply.outcomes == ["refused", "refused", "recorded", "refused"])
        #expect(
            try reply.json["items"]?.array?.map { $0["code"]?.string }
                == ["foreign_bundle_id", "signature_invalid", nil, "malformed_jws"])
        #expect(try front.isActive("level2") == false)
    }

    @Test("If nothing is believed, the answer is the customer's present state")
    func nothing() throws {
        _ = front.submit(coins)
        let count = try front.service.eventCount()
        let reply = front.submit(["signed_transactions": ["x"]])
        #expect(reply.status == 200)
        #expect(try reply.outcomes == ["refused"])
        #expect(try reply.json["balances"]?["coins"]?.integer == 100)
        #expect(try front.service.eventCount() == count)
    }

    @Test("An Idempotency-Key gives the same outcomes again, and stands for one submission")
    func idempotent() throws {
        let known = front.submit(level)
        #expect(try known.outcomes == ["recorded"])
        let evidence = front.signed([coins, level, coins])
        let first = front.submit(evidence, idempotencyKey: "k")
        #expect(try first.outcomes == ["recorded", "already_known", "already_known"])
        #expect(front.submit(evidence, idempotencyKey: "k").text == first.text)
        #expect(front.submit(level, idempotencyKey: "k").code == "idempotency_mismatch")
        #expect(front.submit(evidence, restore: true, idempotencyKey: "k").status == 422)
        // Another customer's idempotency key with the same text is a different key.
        #expect(front.submit(month, for: "u2", idempotencyKey: "k").status == 200)
    }

    @Test("Evidence with a customer's token is theirs; the sender only learns of a refusal")
    func tokens() throws {
        let token = "6f0a4f0e-8a0e-4b43-9f5d-0d1b6c0f8a11"
        let registered = front.send(
            "PUT", "/v1/customers/anna/account_token", #"{"token":"\#(token)"}"#)
        #expect(registered.status == 200)
        let reply = front.submit(month.with { $0.token = token.uppercased() }, for: "ben")
        #expect(
            try reply.json["items"]?.text
                == #"[{"index":0,"outcome":"held_by_another","purchase":"apple:30","#
                + #""transaction":"30","code":"held_by_another","detail":"Another customer holds "#
                + #"this purchase; an admin can transfer it."}]"#)
        #expect(!reply.text.contains("anna"))
        #expect(try reply.json["entitlements"]?.object?.members.isEmpty == true)
        #expect(try front.events(of: "ben") == [])
        #expect(try front.isActive("pro", for: "anna") == true)
    }

    @Test("The token of an order fulfils it, whoever submits; a settled one credits nothing")
    func orders() throws {
        func open(_ id: String) throws -> String {
            let reply = front.send("POST", "/v1/customers/u1/orders", #"{"order":"\#(id)"}"#)
            return try #require(try reply.json["order"]?["token"]?.string)
        }
        let bought = coins.with { $0.purchased = front.service.clock.now }
        let first = try open("o1")
        #expect(try front.submit(bought.with { $0.token = first }).outcomes == ["recorded"])
        let order = { (id: String) in try front.send("GET", "/v1/orders/\(id)").json["order"] }
        #expect(try order("o1")?["state"]?.string == "fulfilled")
        let second = try open("o2")
        let closed = front.send(
            "POST", "/v1/customers/u1/orders/o2/close",
            #"{"because":"settled","reason":"gave 100 coins"}"#, key: front.admin)
        #expect(closed.status == 200)
        let late = bought.with {
            ($0.transaction, $0.original, $0.token) = ("11", "11", second)
        }
        for _ in 0..<2 {
            #expect(
                try front.submit(late).json["items"]?.text
                    == #"[{"index":0,"outcome":"already_settled","purchase":"apple:11","#
                    + #""transaction":"11","order":"o2"}]"#)
        }
        #expect(try front.coins() == 100)
    }

    @Test("An order can be named for a receipt, which carries no token")
    func namedOrder() throws {
        _ = front.send("POST", "/v1/customers/u1/orders", #"{"order":"o1","product":"level2"}"#)
        let receipt = front.store.receipt(
            [coins, level.with { $0.purchased = front.service.clock.now }], at: front.daysAgo(0))
        let reply = front.submit(["receipt": .string(receipt), "order": "o1"])
        #expect(try reply.json["order"]?["state"]?.string == "fulfilled")
        #expect(try reply.json["order"]?["transaction"]?.string == "20")
        let unknown = front.submit(["receipt": .string(receipt), "order": "o2"])
        #expect(unknown.status == 404 && unknown.code == "order_unknown")
        #expect(
            front.submit(["receipt": .string(receipt), "order": "o1"], for: "u2").status == 404)
    }

    @Test("Sandbox evidence is recorded in the sandbox and changes no production answer")
    func sandbox() throws {
        let body: JSON = [
            "signed_transactions": .array([
                .string(front.sandbox.transaction(level)), .string(front.store.transaction(coins)),
            ])
        ]
        let reply = front.submit(body)
        #expect(
            try reply.json["items"]?.text
                == #"[{"index":0,"outcome":"recorded","environment":"sandbox","#
                + #""purchase":"apple:20","transaction":"20"},{"index":1,"outcome":"recorded","#
                + #""purchase":"apple:10","transaction":"10"}]"#)
        #expect(try reply.json["environment"]?.string == "production")
        #expect(try reply.json["entitlements"]?.object?.members.isEmpty == true)
        #expect(try front.isActive("level2") == false)
        let tested = front.send("GET", "/v1/customers/u1/entitlements?environment=sandbox")
        #expect(try tested.json["entitlements"]?["level2"]?["active"]?.bool == true)
        #expect(try front.events() == ["purchase.made", "balance.credited"])
        // In production, the same transaction ids belong to other purchases.
        #expect(try front.submit(level).outcomes == ["recorded"])
        let answered = front.submit(
            [
                "environment": "sandbox",
                "signed_transactions": .array([.string(front.sandbox.transaction(coins))]),
            ], for: "u2")
        #expect(try answered.json["environment"]?.string == "sandbox")
        #expect(try answered.json["balances"]?["coins"]?.integer == 100)
        #expect(try answered.json["items"]?.array?.first?["environment"] == nil)
        #expect(try front.coins(of: "u2") == nil)
    }

    @Test("If the sandbox counts in the project, the answer equals that of reads")
    func sandboxAccess() throws {
        let set = front.send(
            "PUT", "/v1/apps/\(Payload.bundleID)", #"{"sandbox_access":"all"}"#, key: front.admin)
        #expect(set.status == 200)
        try front.service.apps.reload()
        let tested: JSON = [
            "signed_transactions": .array([.string(front.sandbox.transaction(level))])
        ]
        for reply in [front.submit(tested), front.submit(coins), front.submit(tested)] {
            let read = try front.send("GET", "/v1/customers/u1/entitlements").json
            #expect(try reply.json["entitlements"] == read["entitlements"])
            #expect(try reply.json["entitlements"]?["level2"]?["sandbox"]?.bool == true)
        }
    }

    @Test("A newly set app is recognized at once")
    func newApp() throws {
        var other = front.store
        other.bundleID = "com.example.second"
        let body = { (sale: Sale) -> JSON in
            ["signed_transactions": .array([.string(other.transaction(sale))])]
        }
        #expect(try front.submit(body(level)).outcomes == ["refused"])
        _ = front.send("PUT", "/v1/apps/com.example.second", "{}", key: front.admin)
        #expect(try front.submit(body(level)).outcomes == ["recorded"])
    }

    @Test("A receipt that only the store can judge is queued, and the rest counts at once")
    func queued() throws {
        let set = front.send(
            "PUT", "/v1/apps/\(Payload.bundleID)", #"{"receipts":"store"}"#, key: front.admin)
        #expect(set.status == 200)
        try front.service.apps.reload()
        let receipt = front.store.receipt([level], at: front.daysAgo(0))
        let body: JSON = [
            "receipt": .string(receipt),
            "signed_transactions": .array([.string(front.store.transaction(coins))]),
        ]
        let reply = front.submit(body)
        #expect(reply.status == 202)
        #expect(try reply.outcomes == ["queued", "recorded"])
        let id = try #require(try reply.json["items"]?.array?.first?["intake"]?.string)
        #expect(try front.isActive("level2") == false && front.coins() == 100)
        let again = front.submit(["receipt": .string(receipt)])
        #expect(try again.json["items"]?.array?.first?["intake"]?.string == id)
        let waiting = front.send("GET", "/v1/intake/\(id)")
        #expect(try waiting.json["state"]?.string == "waiting")
        front.service.store.answer { [intake = front.service.intake] evidence, app, _, _ in
            do throws(RefusedEvidence) {
                return .believed(try intake.read(vouchedFor: evidence, for: app.trusted))
            } catch {
                return .refused(error)
            }
        }
        #expect(try front.work()?.item.id.text == id)
        let done = front.send("GET", "/v1/intake/\(id)")
        #expect(
            try done.json["items"]?.text
                == #"[{"purchase":"apple:20","transaction":"20","outcome":"recorded","#
                + #""code":null,"detail":null}]"#)
        #expect(try front.isActive("level2") == true)
        // The store has already judged this receipt. A repetition does not wait again, and no other
        // customer gets the purchase.
        let known = front.submit(["receipt": .string(receipt)])
        #expect(try known.status == 200 && known.outcomes == ["already_known"])
        let other = front.submit(["receipt": .string(receipt)], for: "u2")
        #expect(try other.status == 200 && other.outcomes == ["held_by_another"])
        #expect(front.service.store.count == 1)
    }

    @Test("Evidence from ahead of our clock is queued too; another project's app is refused")
    func ahead() throws {
        let early = level.with { $0.signedAt = front.daysAgo(-1) }
        #expect(try front.submit(early).outcomes == ["queued"])
        var foreign = front.store
        foreign.bundleID = "com.example.other"
        let body: JSON = ["signed_transactions": .array([.string(foreign.transaction(early))])]
        #expect(try front.submit(body).outcomes == ["refused"])
        front.service.clock.advance(byMilliseconds: 86_400_000)
        _ = try front.work()
        #expect(try front.isActive("level2") == true)
    }

    @Test("Evidence is stored once, with the events that rest on it")
    func kept() throws {
        let count = { (table: String) in
            try front.service.database.number("select count(*) from deed.\(table)")
        }
        _ = front.submit(coins, level)
        #expect(try count("evidence") == 2)
        #expect(try count("certificates") == 3)
        _ = front.submit(coins, for: "u2")
        _ = front.submit(coins, level)
        #expect(try count("evidence") == 2)
    }

    @Test("Each mistake of a back end gets an answer with advice", arguments: BadSubmission.all)
    func bad(_ sent: BadSubmission) throws {
        let reply = front.send("POST", sent.path, sent.body)
        #expect(reply.status == sent.status, "\(reply.text)")
        #expect(reply.code == sent.code, "\(reply.text)")
        #expect(try reply.json["member"]?.string == sent.member)
        #expect(reply.header("Content-Type") == "application/problem+json")
        #expect(try front.service.database.number("select count(*) from deed.purchases") == 0)
    }

    @Test("A reader may not submit")
    func role() throws {
        let reader = try front.service.key(.reader)
        for path in ["receipts", "restore"] {
            let reply = front.send("POST", "/v1/customers/u1/\(path)", "{}", key: reader)
            #expect(reply.status == 403 && reply.code == "role_insufficient")
        }
    }
}

/// A submission that cannot be accepted.
struct BadSubmission: Sendable, CustomTestStringConvertible {
    let path: String
    let body: String
    var status = 400
    let code: String
    let member: String?

    init(
        _ body: String, status: Int = 400, code: String = "invalid_member", member: String?,
        path: String = "/v1/customers/u1/receipts"
    ) {
        (self.path, self.body, self.status, self.code, self.member) =
            (path, body, status, code, member)
    }

    var testDescription: String { "\(path) \(body.prefix(60))" }

    static let all = [
        BadSubmission("", code: "invalid_json", member: "body"),
        BadSubmission("{", code: "invalid_json", member: "body"),
        BadSubmission("[]", member: "body"),
        BadSubmission("{}", code: "missing_member", member: "receipt"),
        BadSubmission(
            #"{"signed_transactions":[],"receipt":null}"#, code: "missing_member", member: "receipt"
        ),
        BadSubmission(#"{"receipt":1}"#, member: "receipt"),
        BadSubmission(#"{"receipt":["x"]}"#, member: "receipt"),
        BadSubmission(#"{"signed_transactions":"x"}"#, member: "signed_transactions"),
        BadSubmission(#"{"signed_transactions":[1]}"#, member: "signed_transactions[0]"),
        BadSubmission(#"{"signed_transactions":["x",null]}"#, member: "signed_transactions[1]"),
        BadSubmission(
            #"{"signed_transactions":["x"\#(String(repeating: #","x""#, count: 100))]}"#,
            member: "signed_transactions"),
        BadSubmission(#"{"app_transaction":{}}"#, member: "app_transaction"),
        BadSubmission(#"{"receipt":"x","order":7}"#, member: "order"),
        BadSubmission(#"{"receipt":"x","order":""}"#, member: "order"),
        BadSubmission(#"{"receipt":"x","environment":"test"}"#, member: "environment"),
        BadSubmission(
            #"{"receipt":"x","environment":"sandbox"}"#, member: "environment",
            path: "/v1/customers/u1/receipts?environment=production"),
        BadSubmission(
            #"{"receipt":"x"}"#, member: "customer",
            path: "/v1/customers/%24unclaimed%2Fapple:1/receipts"),
        BadSubmission(#"{"receipt":"x"}"#, member: "customer", path: "/v1/customers//receipts"),
        BadSubmission(
            "{}", code: "missing_member", member: "receipt", path: "/v1/customers/u1/restore"),
        BadSubmission(
            #"{"receipt":"x"}"#, status: 404, code: "route_unknown", member: nil,
            path: "/v1/customers/u1/receipt"),
    ]
}
