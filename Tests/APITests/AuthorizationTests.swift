import Core
import JSON
import Minting
import Service
import TestSupport
import Testing

@testable import API

/// Every route of the router, with every kind of key. What is sent is a call that the right key may make.
@Suite("What each key may do", .timeLimit(.minutes(5)))
struct AuthorizationTests {
    struct Row {
        let call: String
        /// The least role that may; `nil` for a call that takes no key.
        let role: Role?
        /// The arguments of the pattern, in their order, of what there is in the project.
        var arguments: [String] = []
        var body = ""
    }

    let front: Storefront
    let rows: [Row]
    /// Stands in what the project alone may read.
    static let mark = "between-us"

    init() throws {
        front = try Storefront()
        rows = try AuthorizationTests.rows(in: front)
    }

    private static func rows(in front: Storefront) throws -> [Row] {
        let things = try Things(front, mark: mark)
        let (because, u1) = (#"{"reason":"r"}"#, "u1")
        let signed = front.signed([Sale("77", "level2", .nonConsumable, at: front.daysAgo(2))]).text
        let reading: [Row] = [
            Row(call: "GET /v1/customers/{customer}", role: .reader, arguments: [u1]),
            Row(call: "GET /v1/customers/{customer}/entitlements", role: .reader, arguments: [u1]),
            Row(
                call: "GET /v1/customers/{customer}/entitlements/{entitlement}", role: .reader,
                arguments: [u1, "pro"]),
            Row(
                call: "POST /v1/entitlements/query", role: .reader,
                body: #"{"customers":["u1"]}"#),
            Row(call: "GET /v1/customers/{customer}/explain", role: .reader, arguments: [u1]),
            Row(call: "GET /v1/customers/{customer}/events", role: .reader, arguments: [u1]),
            Row(call: "GET /v1/customers/{customer}/balances", role: .reader, arguments: [u1]),
            Row(
                call: "GET /v1/customers/{customer}/balances/{currency}/history", role: .reader,
                arguments: [u1, "coins"]),
            Row(call: "GET /v1/refund_requests", role: .reader),
            Row(
                call: "GET /v1/app_transactions/{app_transaction}", role: .reader,
                arguments: ["704"]),
            Row(call: "GET /v1/products", role: .reader),
        ]
        let submitting: [Row] = [
            Row(
                call: "POST /v1/customers/{customer}/receipts", role: .backend, arguments: [u1],
                body: signed),
            Row(
                call: "POST /v1/customers/{customer}/restore", role: .backend, arguments: [u1],
                body: signed),
            Row(call: "GET /v1/intake/{id}", role: .backend, arguments: [things.intake]),
            Row(
                call: "POST /v1/customers/{customer}/orders", role: .backend, arguments: [u1],
                body: "{}"),
            Row(call: "GET /v1/customers/{customer}/orders", role: .backend, arguments: [u1]),
            Row(call: "GET /v1/orders/{order}", role: .backend, arguments: [things.order]),
            Row(
                call: "PUT /v1/customers/{customer}/account_token", role: .backend, arguments: [u1],
                body: #"{"token":"0b7fcd3b-2d7a-4c59-9d0e-0c2a7e1f5a01"}"#),
            Row(
                call: "POST /v1/customers/{customer}/balances/{currency}/spend", role: .backend,
                arguments: [u1, "coins"], body: #"{"amount":1,"allow_unknown":true}"#),
            Row(
                call: "POST /v1/customers/{customer}/balances/{currency}/adjust", role: .backend,
                arguments: [u1, "coins"],
                body: #"{"amount":1,"reason":"r","allow_unknown":true}"#),
        ]
        return reading + submitting + administering(things, because) + [
            Row(call: "POST /v1/stores/apple/notifications", role: nil, body: "{}"),
            Row(call: "GET /healthz", role: nil), Row(call: "GET /readyz", role: nil),
            Row(call: "GET /metrics", role: nil), Row(call: "GET /openapi.json", role: nil),
        ]
    }

    private static func administering(_ things: Things, _ because: String) -> [Row] {
        func admin(_ call: String, _ arguments: [String] = [], _ body: String = "") -> Row {
            Row(call: call, role: .admin, arguments: arguments, body: body)
        }
        return [
            admin("POST /v1/intake/{id}/settle", [things.intake], because),
            admin("POST /v1/intake/{id}/drop", [things.intake], because),
            admin("POST /v1/intake/{id}/retry", [things.intake], because),
            admin(
                "POST /v1/customers/{customer}/orders/{order}/close", ["u1", things.order],
                #"{"because":"cancelled","reason":"r"}"#),
            admin(
                "POST /v1/customers/{customer}/grants", ["u1"],
                #"{"entitlement":"pro","reason":"r","allow_unknown":true}"#),
            admin(
                "DELETE /v1/customers/{customer}/grants/{grant}", ["u1", things.grant], because),
            admin(
                "POST /v1/customers/{customer}/purchases/{purchase}/transfer", ["u1", "apple:1"],
                #"{"to":"u2","reason":"r"}"#),
            admin(
                "POST /v1/customers/{customer}/purchases/{purchase}/undo_transfer",
                ["u1", "apple:1"], because),
            admin("GET /v1/unclaimed"), admin("GET /v1/unclaimed/{purchase}", ["apple:9"]),
            admin(
                "POST /v1/unclaimed/{purchase}/attach", ["apple:9"],
                #"{"customer":"u2","reason":"r"}"#),
            admin("GET /v1/reconciliations"),
            admin("POST /v1/reconciliations", [], "{}"),
            admin("GET /v1/reconciliations/{id}", [things.reconciliation]),
            admin("GET /v1/catalog"),
            admin("PUT /v1/catalog", [], #"{"products":[],"entitlements":{}}"#),
            admin("GET /v1/settings"),
            admin("PATCH /v1/settings", [], #"{"transfer":"transfer"}"#),
            admin("PUT /v1/apps/{bundle}", [Payload.bundleID], "{}"),
            admin("DELETE /v1/apps/{bundle}", [Payload.bundleID]),
            admin("GET /v1/test/clock"),
            admin("PUT /v1/test/clock", [], #"{"advance":"PT1S"}"#),
        ]
    }

    func send(_ row: Row, _ key: NewKey?, query: String = "") -> Reply {
        let words = row.call.split(separator: " ")
        var rest = row.arguments[...]
        let parts = words[1].split(separator: "/").map { part in
            part.hasPrefix("{") ? rest.removeFirst() : String(part)
        }
        // An explanation is of one entitlement.
        let wanted =
            row.call.hasSuffix("/explain") ? (query.isEmpty ? "?" : "&") + "entitlement=pro" : ""
        return front.service.send(
            String(words[0]), "/" + parts.joined(separator: "/") + query + wanted, key: key,
            body: row.body)
    }

    /// What an admin of the project sees of all of it.
    func everything() -> [String] {
        rows.filter { $0.call.hasPrefix("GET /v1/") }.map { send($0, front.admin).text }
    }

    @Test("The table has every route of the router, and the role that the router asks for")
    func complete() {
        let routed = front.service.router.outlines.map { route in
            "\(route.method) \(route.pattern) \(route.role?.rawValue ?? "open")"
        }
        let listed = rows.map { "\($0.call) \($0.role?.rawValue ?? "open")" }
        #expect(Set(listed) == Set(routed))
        #expect(listed.count == routed.count)
    }

    @Test("A call needs a key that lives, and one whose role may make it")
    func roles() throws {
        let revoked = try Role.allCases.map { role in
            let key = try front.service.key(role)
            try front.service.revoke(key)
            return key
        }
        let keys = try Role.allCases.map { ($0, try front.service.key($0)) }
        // Each unknown key would cost a look into the database, of which there are only so many.
        try front.service.keys.reload()
        let before = (everything(), try front.service.eventCount())
        for row in rows {
            guard let least = row.role else {
                #expect(send(row, nil).code?.hasPrefix("key_") != true, "\(row.call)")
                continue
            }
            #expect(send(row, nil).code == "key_missing", "\(row.call)")
            for key in revoked {
                let reply = send(row, key)
                #expect(reply.status == 401 && reply.code == "key_unknown", "\(row.call)")
            }
            for (role, key) in keys where !Self.may(role, least) {
                let reply = send(row, key)
                let isRefused = reply.status == 403 && reply.code == "role_insufficient"
                #expect(isRefused, "\(role) \(row.call)")
            }
        }
        #expect(everything() == before.0)
        #expect(try front.service.eventCount() == before.1)
        for row in rows {
            guard let least = row.role else { continue }
            for (role, key) in keys where Self.may(role, least) {
                let reply = send(row, key)
                let codes = ["key_missing", "key_unknown", "role_insufficient"]
                #expect(!codes.contains(reply.code ?? ""), "\(role) \(row.call)")
                #expect(reply.status != 400, "\(row.call): \(reply.text)")
            }
        }
    }

    @Test("A key of another project reads nothing of this one, and changes nothing")
    func otherProject() throws {
        try front.service.createProject("other")
        let others = try Role.allCases.map { try front.service.key($0, project: "other") }
        let before = everything()
        #expect(before.contains { $0.contains(Self.mark) })
        for row in rows where row.role != nil {
            for key in others {
                let reply = send(row, key)
                for word in [Self.mark, "pro.month", "level2\""] {
                    #expect(!reply.text.contains(word), "\(row.call): \(reply.text)")
                }
            }
        }
        #expect(everything() == before)
    }

    @Test("A call about the sandbox reads nothing of production, and changes nothing there")
    func otherEnvironment() throws {
        let before = everything()
        let patterns = front.service.router.outlines.filter {
            $0.parameters.contains("environment")
        }.map { "\($0.method) \($0.pattern)" }
        #expect(patterns.count > 20)
        for row in rows where patterns.contains(row.call) {
            // Evidence says itself where it belongs.
            if row.call.hasSuffix("/receipts") || row.call.hasSuffix("/restore") { continue }
            let reply = send(row, front.admin, query: "?environment=sandbox")
            for word in [Self.mark, "pro.month"] {
                #expect(!reply.text.contains(word), "\(row.call): \(reply.text)")
            }
        }
        #expect(everything() == before)
    }

    /// The roles in their order: each may do what the one before may.
    private static func may(_ role: Role, _ least: Role) -> Bool {
        let order: [Role] = [.reader, .backend, .admin]
        return order.firstIndex(of: role) ?? -1 >= order.firstIndex(of: least) ?? 0
    }
}

/// What there is in the project, so that each call has something to be about.
private struct Things {
    let grant: String
    let order: String
    let intake: String
    let reconciliation: String

    init(_ front: Storefront, mark: String) throws {
        let month = Sale(
            "1", "pro.month", .autoRenewable, at: front.daysAgo(1), until: front.daysAgo(-29))
        _ = front.submit(month, Sale("2", "coins.100", .consumable, at: front.daysAgo(1)))
        let body = #"{"entitlement":"legacy","reason":"\#(mark)","ticket":"\#(mark)"}"#
        let given = front.send("POST", "/v1/customers/u1/grants", body, key: front.admin)
        grant = try #require(try given.json["grant"]?["id"]?.string)
        let opened = front.send("POST", "/v1/customers/u1/orders", "{}")
        order = try #require(try opened.json["order"]?["id"]?.string)
        let unclaimed = Sale(
            "9", "pro.month", .autoRenewable, at: front.daysAgo(1), until: front.daysAgo(-29))
        _ = front.notify(
            front.store.notification(
                "SUBSCRIBED", id: "n9", at: front.daysAgo(0),
                transaction: front.store.transaction(unclaimed)))
        let early = Sale("10", "level2", .nonConsumable, at: front.daysAgo(1)).with {
            $0.signedAt = front.daysAgo(-1)
        }
        let queued = front.notify(
            front.store.notification(
                "ONE_TIME_CHARGE", id: "n10", at: front.daysAgo(0),
                transaction: front.store.transaction(early)))
        intake = try #require(try queued.json["intake"]?.string)
        let asked = front.send("POST", "/v1/reconciliations", "{}", key: front.admin)
        reconciliation = try #require(try asked.json["reconciliation"]?.string)
    }
}
