import Core
import JSON
import Minting
import Service
import TestSupport
import Testing

@testable import API

/// Every route of the router, with every kind of key. What is sent is a call that the right key may make.
@Suite("The permissions of each key", .timeLimit(.minutes(5)))
struct AuthorizationTests {
    struct Row {
        let call: String
        /// The least role that may; `nil` for a call that takes no key.
        let role: Role?
        /// The arguments of the pattern, in their order, of what there is in the project.
        var arguments: [String] = []
        var body = ""
        /// What a key of another project is answered.
        var elsewhere = 200
        /// What is answered about the other environment; `nil` where the call is about none.
        var apart: Int?
    }

    let stage: Stage
    var front: Storefront { stage.front }

    init() throws {
        stage = try Stage(in: .production)
    }

    @Test("The table has every route of the router, with the role that the router requires")
    func complete() {
        let outlines = stage.front.service.router.outlines
        let routed = outlines.map { route in
            "\(route.method) \(route.pattern) \(route.role?.rawValue ?? "open")"
        }
        let listed = stage.rows.map { "\($0.call) \($0.role?.rawValue ?? "open")" }
        #expect(Set(listed) == Set(routed))
        #expect(listed.count == routed.count)
        // What is about an environment is tried in the other one.
        let about = outlines.filter { $0.parameters.contains("environment") }
            .map { "\($0.method) \($0.pattern)" }
        let tried = stage.rows.filter { $0.apart != nil }.map(\.call)
        #expect(Set(tried) == Set(about + Stage.namingInBody))
    }

    @Test("A call needs a live key whose role permits it")
    func roles() throws {
        let service = stage.front.service
        let revoked = try Role.allCases.map { role in
            let key = try service.key(role)
            try service.revoke(key)
            return key
        }
        let keys = try Role.allCases.map { ($0, try service.key($0)) }
        // Each unknown key would cost a look into the database, of which there are only so many.
        try service.keys.reload()
        let before = (stage.everything(), try service.eventCount())
        for row in stage.rows {
            guard let least = row.role else {
                // Whatever key comes with it is not looked at.
                let reply = stage.send(row, nil)
                #expect(reply.code?.hasPrefix("key_") != true, "\(row.call)")
                for key in revoked {
                    #expect(stage.send(row, key).status == reply.status, "\(row.call)")
                }
                continue
            }
            #expect(stage.send(row, nil).code == "key_missing", "\(row.call)")
            for key in revoked {
                let reply = stage.send(row, key)
                #expect(reply.status == 401 && reply.code == "key_unknown", "\(row.call)")
            }
            for (role, key) in keys where !Self.may(role, least) {
                Self.expectRefused(stage.send(row, key), "\(role) \(row.call)")
            }
        }
        #expect(stage.everything() == before.0)
        #expect(try service.eventCount() == before.1)
        for row in stage.rows {
            guard let least = row.role else { continue }
            for (role, key) in keys where Self.may(role, least) {
                let reply = stage.send(row, key)
                let codes = ["key_missing", "key_unknown", "role_insufficient"]
                #expect(!codes.contains(reply.code ?? ""), "\(role) \(row.call)")
                #expect(reply.status != 400, "\(row.call): \(reply.text)")
            }
        }
    }

    @Test("A key of another project reads nothing of this one, and changes nothing")
    func otherProject() throws {
        let service = stage.front.service
        try service.createProject("other")
        let others = try Role.allCases.map { ($0, try service.key($0, project: "other")) }
        stage.front.limitCredits(by: others.first { $0.0 == .admin }?.1)
        let before = stage.everything()
        #expect(before.contains { $0.contains(Stage.mark) })
        for row in stage.rows {
            for (role, key) in others {
                guard let least = row.role else { continue }
                let reply = stage.send(row, key)
                if Self.may(role, least) {
                    let told = "\(role) \(row.call): \(reply.status) \(reply.text)"
                    #expect(reply.status == row.elsewhere, "\(told)")
                } else {
                    Self.expectRefused(reply, "\(role) \(row.call)")
                }
                stage.expectNothing(in: reply, row)
            }
        }
        #expect(stage.everything() == before)
    }

    @Test(
        "A call about one environment reads nothing of the other, and changes nothing there",
        arguments: Environment.allCases)
    func otherEnvironment(_ environment: Environment) throws {
        let stage = try Stage(in: environment)
        let keys = try Role.allCases.map { ($0, try stage.front.service.key($0)) }
        let before = stage.everything()
        #expect(before.contains { $0.contains(Stage.mark) })
        for row in stage.rows {
            for (role, key) in keys {
                guard let least = row.role, let apart = row.apart else { continue }
                let reply = stage.send(row, key, about: environment.other)
                if Self.may(role, least) {
                    let told = "\(role) \(row.call): \(reply.status) \(reply.text)"
                    #expect(reply.status == apart, "\(told)")
                } else {
                    Self.expectRefused(reply, "\(role) \(row.call)")
                }
                stage.expectNothing(in: reply, row)
            }
        }
        #expect(stage.everything() == before)
    }

    private static func expectRefused(_ reply: Reply, _ call: String) {
        #expect(reply.status == 403 && reply.code == "role_insufficient", "\(call)")
    }

    /// The roles in their order: each may do what the one before may.
    private static func may(_ role: Role, _ least: Role) -> Bool {
        let order: [Role] = [.reader, .backend, .admin]
        return order.firstIndex(of: role) ?? -1 >= order.firstIndex(of: least) ?? 0
    }
}

extension Environment {
    fileprivate var other: Environment { self == .production ? .sandbox : .production }
}

/// A project with things in one environment, and a call of each route that is about them.
struct Stage {
    typealias Row = AuthorizationTests.Row

    /// Stands in what the project alone may read.
    static let mark = "between-us"

    let front: Storefront
    let rows: [Row]
    private let environment: Environment

    init(in environment: Environment) throws {
        front = try Storefront()
        self.environment = environment
        front.limitCredits(by: front.admin)
        let things = try Things(front, mark: Stage.mark, in: environment)
        rows =
            Stage.reading + Stage.submitting(things) + Stage.administering(things) + Stage.webhooks
            + Stage.operating + Stage.erasing
            + [Row(call: "POST /v1/stores/apple/notifications", role: nil, body: "{}")]
    }

    private static let reading =
        [
            Row(call: "GET /v1/customers/{customer}", role: .reader, arguments: ["u1"], apart: 200),
            Row(
                call: "GET /v1/customers/{customer}/entitlements", role: .reader, arguments: ["u1"],
                apart: 200),
            Row(
                call: "GET /v1/customers/{customer}/entitlements/{entitlement}", role: .reader,
                arguments: ["u1", "pro"], apart: 200),
            Row(
                call: "POST /v1/entitlements/query", role: .reader, body: #"{"customers":["u1"]}"#,
                apart: 200),
            Row(
                call: "GET /v1/customers/{customer}/explain", role: .reader, arguments: ["u1"],
                apart: 200),
            Row(
                call: "GET /v1/customers/{customer}/events", role: .reader, arguments: ["u1"],
                apart: 200),
            Row(
                call: "GET /v1/customers/{customer}/balances", role: .reader, arguments: ["u1"],
                apart: 200),
            Row(
                call: "GET /v1/customers/{customer}/balances/{currency}/history", role: .reader,
                arguments: ["u1", "coins"], apart: 200),
            Row(call: "GET /v1/refund_requests", role: .reader, apart: 200),
            Row(call: "GET /v1/events", role: .reader, apart: 200),
            Row(
                call: "GET /v1/app_transactions/{app_transaction}", role: .reader,
                arguments: ["704"],
                apart: 200),
            Row(call: "GET /v1/products", role: .reader),
        ] + finding

    private static func submitting(_ things: Things) -> [Row] {
        [
            Row(
                call: "POST /v1/customers/{customer}/receipts", role: .backend, arguments: ["u1"],
                apart: 200),
            Row(
                call: "POST /v1/customers/{customer}/restore", role: .backend, arguments: ["u1"],
                apart: 200),
            Row(
                call: "GET /v1/intake/{id}", role: .backend, arguments: [things.intake],
                elsewhere: 404),
            Row(
                call: "POST /v1/customers/{customer}/orders", role: .backend, arguments: ["u1"],
                body: "{}", elsewhere: 201, apart: 201),
            Row(
                call: "GET /v1/customers/{customer}/orders", role: .backend, arguments: ["u1"],
                apart: 200),
            Row(
                call: "GET /v1/orders/{order}", role: .backend, arguments: [things.order],
                elsewhere: 404, apart: 404),
            Row(
                call: "PUT /v1/customers/{customer}/account_token", role: .backend,
                arguments: ["u1"], body: #"{"token":"0b7fcd3b-2d7a-4c59-9d0e-0c2a7e1f5a01"}"#,
                apart: 200),
            Row(
                call: "POST /v1/customers/{customer}/balances/{currency}/spend", role: .backend,
                arguments: ["u1", "coins"], body: #"{"amount":1,"allow_unknown":true}"#,
                elsewhere: 409, apart: 409),
            Row(
                call: "POST /v1/customers/{customer}/balances/{currency}/adjust", role: .backend,
                arguments: ["u1", "gems"],
                body: #"{"amount":1,"reason":"r","allow_unknown":true}"#, apart: 200),
        ]
    }

    private static func administering(_ things: Things) -> [Row] {
        let because = #"{"reason":"r"}"#
        let purchase = "POST /v1/customers/{customer}/purchases/{purchase}"
        let (held, wish) = (["u1", "apple:1"], #"{"to":"u2","reason":"r"}"#)
        func admin(
            _ call: String, _ arguments: [String] = [], _ body: String = "", elsewhere: Int = 200,
            apart: Int? = nil
        ) -> Row {
            Row(
                call: call, role: .admin, arguments: arguments, body: body, elsewhere: elsewhere,
                apart: apart)
        }
        return [
            admin("POST /v1/intake/{id}/settle", [things.intake], because, elsewhere: 404),
            admin("POST /v1/intake/{id}/drop", [things.intake], because, elsewhere: 404),
            admin("POST /v1/intake/{id}/retry", [things.intake], because, elsewhere: 404),
            admin(
                "POST /v1/customers/{customer}/orders/{order}/close", ["u1", things.order],
                #"{"because":"cancelled","reason":"r"}"#, elsewhere: 404, apart: 404),
            admin(
                "POST /v1/customers/{customer}/grants", ["u1"],
                #"{"entitlement":"level2","reason":"r","allow_unknown":true}"#, elsewhere: 201,
                apart: 201),
            admin(
                "DELETE /v1/customers/{customer}/grants/{grant}", ["u1", things.grant], because,
                elsewhere: 404, apart: 404),
            admin(
                "PATCH /v1/customers/{customer}/grants/{grant}", ["u1", things.grant],
                #"{"for_ever":true,"reason":"r"}"#, elsewhere: 404, apart: 404),
            admin("\(purchase)/block", held, because, elsewhere: 404, apart: 404),
            admin("\(purchase)/unblock", held, because, elsewhere: 404, apart: 404),
            admin("\(purchase)/transfer", held, wish, elsewhere: 404, apart: 404),
            admin("\(purchase)/undo_transfer", held, because, elsewhere: 404, apart: 404),
            admin("GET /v1/grants", apart: 200),
            admin("GET /v1/unclaimed", apart: 200),
            admin("GET /v1/unclaimed/{purchase}", ["apple:9"], elsewhere: 404, apart: 404),
            admin(
                "POST /v1/unclaimed/{purchase}/attach", ["apple:9"],
                #"{"customer":"u2","reason":"r"}"#, elsewhere: 404, apart: 404),
            admin("GET /v1/reconciliations"),
            admin("POST /v1/reconciliations", [], "{}", elsewhere: 202),
            admin("GET /v1/reconciliations/{id}", [things.reconciliation], elsewhere: 404),
            admin("GET /v1/catalog"),
            admin("PUT /v1/catalog", [], #"{"products":[],"entitlements":{}}"#),
            admin("GET /v1/settings"),
            admin("PATCH /v1/settings", [], #"{"transfer":"transfer"}"#),
            admin("PUT /v1/apps/{bundle}", [Payload.bundleID], "{}", elsewhere: 409),
            admin("DELETE /v1/apps/{bundle}", [Payload.bundleID], elsewhere: 404),
            admin("GET /v1/test/clock", elsewhere: 404),
            admin("PUT /v1/test/clock", [], #"{"advance":"PT1S"}"#, elsewhere: 404),
        ]
    }

    /// Makes the call about an environment: that of the things unless it is another one.
    func send(_ row: Row, _ key: NewKey?, about other: Environment? = nil) -> Reply {
        let environment = other ?? environment
        let words = row.call.split(separator: " ")
        var rest = row.arguments[...]
        let path = words[1].split(separator: "/").map { part in
            part.hasPrefix("{") ? rest.removeFirst() : String(part)
        }.joined(separator: "/")
        var (query, body) = ([String](), row.body)
        if row.apart != nil {
            if Stage.namingInBody.contains(row.call) {
                body = #"\#(body.dropLast()),"environment":"\#(environment.rawValue)"}"#
            } else {
                query.append("environment=\(environment.rawValue)")
            }
        }
        if row.call.hasSuffix("/receipts") || row.call.hasSuffix("/restore") {
            // Evidence says itself where it belongs.
            let sale = Sale("77", "level2", .nonConsumable, at: front.daysAgo(2))
            body = front.signed([sale], by: environment).text
        }
        query += Stage.questions[row.call] ?? []
        let target = "/" + path + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))
        return front.service.send(String(words[0]), target, key: key, body: body)
    }

    /// What an admin of the project sees of all of it.
    func everything() -> [String] {
        // An export is about both environments.
        rows.filter { $0.call.hasPrefix("GET /v1/") && !$0.call.hasSuffix("/export") }.map {
            // The feed's cursor is a place in the whole log, which other projects write, too.
            send($0, front.admin).text.replacing(/"next":"[A-Za-z0-9_-]+"/, with: "")
        }
    }

    /// No word of what the project alone may read.
    func expectNothing(in reply: Reply, _ row: Row) {
        for word in [Stage.mark, "pro.month", "apple:1\"", "apple:9\""] {
            #expect(!reply.text.contains(word), "\(row.call): \(reply.text)")
        }
    }
}

/// What there is in the project, so that each call has something to be about.
private struct Things {
    let grant: String
    let order: String
    let intake: String
    let reconciliation: String

    init(_ front: Storefront, mark: String, in environment: Environment) throws {
        let store = front.store(of: environment)
        let place = #""environment":"\#(environment.rawValue)""#
        let month = Sale(
            "1", "pro.month", .autoRenewable, at: front.daysAgo(1), until: front.daysAgo(-29))
        let coins = Sale("2", "coins.100", .consumable, at: front.daysAgo(1))
        let bought = front.submit(front.signed([month, coins], by: environment))
        #expect(try bought.outcomes == ["recorded", "recorded"])
        let body = #"{"entitlement":"legacy","reason":"\#(mark)","ticket":"\#(mark)",\#(place)}"#
        let given = front.send("POST", "/v1/customers/u1/grants", body, key: front.admin)
        grant = try #require(try given.json["grant"]?["id"]?.string)
        let opened = front.send("POST", "/v1/customers/u1/orders", "{\(place)}")
        order = try #require(try opened.json["order"]?["id"]?.string)
        let unclaimed = Sale(
            "9", "pro.month", .autoRenewable, at: front.daysAgo(1), until: front.daysAgo(-29))
        _ = front.notify(
            store.notification(
                "SUBSCRIBED", id: "n9", at: front.daysAgo(0),
                transaction: store.transaction(unclaimed)))
        let early = Sale("10", "level2", .nonConsumable, at: front.daysAgo(1)).with {
            $0.signedAt = front.daysAgo(-1)
        }
        let queued = front.notify(
            store.notification(
                "ONE_TIME_CHARGE", id: "n10", at: front.daysAgo(0),
                transaction: store.transaction(early)))
        intake = try #require(try queued.json["intake"]?.string)
        let asked = front.send("POST", "/v1/reconciliations", "{}", key: front.admin)
        reconciliation = try #require(try asked.json["reconciliation"]?.string)
    }
}

extension Storefront {
    fileprivate func store(of environment: Environment) -> MintedStore {
        environment == .production ? store : sandbox
    }

    /// Lets back ends of the key's project credit gems.
    fileprivate func limitCredits(by admin: NewKey?) {
        let limits =
            #"{"credit_limits":{"gems":{"per_call":9,"per_day":99}},"allow_unknown":true}"#
        #expect(send("PATCH", "/v1/settings", limits, key: admin).status == 200)
    }

    fileprivate func signed(_ sales: [Sale], by environment: Environment) -> JSON {
        let store = store(of: environment)
        return ["signed_transactions": .array(sales.map { .string(store.transaction($0)) })]
    }
}
