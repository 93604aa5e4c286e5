import Core
import JSON
import Minting
import Service
import TestSupport
import Testing

@testable import API

/// Tries every route of the router with every kind of key. Each call is one that the right key may make.
@Suite("The permissions of each key", .timeLimit(.minutes(20)))
struct AuthorizationTests {
    struct Row {
        let call: String
        /// The weakest of reader, backend and admin that may make the call; `nil` if the call needs no key.
        let role: Role?
        /// Whether support staff may also make the call, although a reader may not.
        var isForSupport = false
        /// The pattern's arguments, in order, from the project's things.
        var arguments: [String] = []
        var body = ""
        /// The status for a key of another project.
        var elsewhere = 200
        /// The status for the other environment; `nil` if the call concerns no environment.
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
            "\(route.method) \(route.pattern) \(route.roles?.map(\.rawValue) ?? [])"
        }
        let listed = stage.rows.map { row in
            "\(row.call) \(Role.allCases.filter { Self.may($0, row) }.map(\.rawValue))"
        }
        #expect(Set(listed) == Set(routed))
        #expect(listed.count == routed.count)
        // Calls about an environment are also tried in the other one.
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
        // Each unknown key would cost a database lookup, and lookups are limited.
        try service.keys.reload()
        let before = (stage.everything(), try service.eventCount())
        for row in stage.rows {
            guard row.role != nil else {
                // The service ignores a key.
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
            for (role, key) in keys where !Self.may(role, row) {
                Self.expectRefused(stage.send(row, key), "\(role) \(row.call)")
            }
        }
        #expect(stage.everything() == before.0)
        #expect(try service.eventCount() == before.1)
        for row in stage.rows {
            guard row.role != nil else { continue }
            for (role, key) in keys where Self.may(role, row) {
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
        stage.front.limit(by: others.first { $0.0 == .admin }?.1)
        let before = stage.everything()
        #expect(before.contains { $0.contains(Stage.mark) })
        for row in stage.rows {
            for (role, key) in others {
                guard row.role != nil else { continue }
                let reply = stage.send(row, key)
                if Self.may(role, row) {
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
                guard row.role != nil, let apart = row.apart else { continue }
                let reply = stage.send(row, key, about: environment.other)
                if Self.may(role, row) {
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

    /// Support staff may do everything that readers may, and more. Each of the other roles may do
    /// everything that the previous one may.
    static func may(_ role: Role, _ row: Row) -> Bool {
        guard let least = row.role else { return false }
        if role == .support { return least == .reader || row.isForSupport }
        let order: [Role] = [.reader, .backend, .admin]
        return order.firstIndex(of: role) ?? -1 >= order.firstIndex(of: least) ?? 0
    }
}

extension Environment {
    fileprivate var other: Environment { self == .production ? .sandbox : .production }
}

/// A project with things in one environment, and a call of each route about them.
struct Stage {
    typealias Row = AuthorizationTests.Row

    /// Marks data that only the project may read.
    static let mark = "between-us"

    let front: Storefront
    let rows: [Row]
    let environment: Environment

    init(in environment: Environment) throws {
        front = try Storefront()
        self.environment = environment
        front.limit(by: front.admin)
        let things = try Things(front, mark: Stage.mark, in: environment)
        rows =
            Stage.reading + Stage.submitting(things) + Stage.administering(things) + Stage.webhooks
            + Stage.operating + Stage.erasing + Stage.merging
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
                call: "GET /v1/customers/{customer}/notes", role: .reader, arguments: ["u1"],
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
        let because = #"{"reason":"r","ticket":"t"}"#
        let purchase = "POST /v1/customers/{customer}/purchases/{purchase}"
        let (held, wish) = (["u1", "apple:1"], #"{"to":"u2","reason":"r","ticket":"t"}"#)
        func admin(
            _ call: String, _ arguments: [String] = [], _ body: String = "", elsewhere: Int = 200,
            apart: Int? = nil
        ) -> Row {
            Row(
                call: call, role: .admin, isForSupport: supported.contains(call),
                arguments: arguments, body: body, elsewhere: elsewhere, apart: apart)
        }
        return [
            admin("POST /v1/intake/{id}/settle", [things.intake], because, elsewhere: 404),
            admin("POST /v1/intake/{id}/drop", [things.intake], because, elsewhere: 404),
            admin("POST /v1/intake/{id}/retry", [things.intake], because, elsewhere: 404),
            admin(
                "POST /v1/customers/{customer}/orders/{order}/close", ["u1", things.order],
                #"{"because":"cancelled","reason":"r","ticket":"t"}"#, elsewhere: 404, apart: 404),
            admin(
                "POST /v1/customers/{customer}/grants", ["u1"],
                #"{"entitlement":"level2","for":"P1D","reason":"r","ticket":"t","allow_unknown":true}"#,
                elsewhere: 201,
                apart: 201),
            admin(
                "DELETE /v1/customers/{customer}/grants/{grant}", ["u1", things.grant], because,
                elsewhere: 404, apart: 404),
            admin(
                "PATCH /v1/customers/{customer}/grants/{grant}", ["u1", things.grant],
                #"{"for":"P9D","reason":"r","ticket":"t"}"#, elsewhere: 404, apart: 404),
            admin(
                "POST /v1/customers/{customer}/notes", ["u1"], #"{"text":"n","ticket":"t"}"#,
                elsewhere: 201, apart: 201),
            admin(
                "DELETE /v1/customers/{customer}/notes/{note}", ["u1", "n_none"], because,
                elsewhere: 404, apart: 404),
            admin("\(purchase)/block", held, because, elsewhere: 404, apart: 404),
            admin("\(purchase)/unblock", held, because, elsewhere: 404, apart: 404),
            admin("\(purchase)/transfer", held, wish, elsewhere: 404, apart: 404),
            admin("\(purchase)/undo_transfer", held, because, elsewhere: 404, apart: 404),
            admin("GET /v1/grants", apart: 200),
            admin("GET /v1/unclaimed", apart: 200),
            admin("GET /v1/unclaimed/{purchase}", ["apple:9"], elsewhere: 404, apart: 404),
            admin(
                "POST /v1/unclaimed/{purchase}/attach", ["apple:9"],
                #"{"customer":"u2","reason":"r","ticket":"t"}"#, elsewhere: 404, apart: 404),
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

    /// Makes the call about the things' environment, or about the given one.
    func send(_ row: Row, _ key: NewKey?, about other: Environment? = nil) -> Reply {
        let (method, target, body) = request(row, about: other)
        return front.service.send(method, target, key: key, body: body)
    }

    /// Everything that the project's admin sees.
    func everything() -> [String] {
        // An export is about both environments.
        rows.filter { $0.call.hasPrefix("GET /v1/") && !$0.call.hasSuffix("/export") }.map {
            // The feed's cursor is a place in the whole log, which other projects also write.
            send($0, front.admin).text.replacing(/"next":"[A-Za-z0-9_-]+"/, with: "")
        }
    }

    /// Expects the reply to contain nothing that only the project may read.
    func expectNothing(in reply: Reply, _ row: Row) {
        for word in [Stage.mark, "pro.month", "apple:1\"", "apple:9\""] {
            #expect(!reply.text.contains(word), "\(row.call): \(reply.text)")
        }
    }
}

/// The project's things, one for each call.
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

    func signed(_ sales: [Sale], by environment: Environment) -> JSON {
        let store = store(of: environment)
        return ["signed_transactions": .array(sales.map { .string(store.transaction($0)) })]
    }
}
