import Core
import JSON
import Minting
import Service
import TestSupport
import Testing

/// A project with things in one environment, and a call of each route about them.
struct Stage {
    /// Marks data that only the project may read.
    static let mark = "between-us"
    /// The values of arguments in paths. The ids in the second line are only well-formed.
    static let usual = [
        "customer": "u1", "entitlement": "pro", "currency": "coins", "purchase": "apple:1",
        "grant": "g_1", "note": "n_1", "order": "o1", "id": "i_1", "webhook": "wh_1",
        "bundle": Payload.bundleID, "app_transaction": "704",
    ]

    let front: Storefront
    let rows: [Row]
    let environment: Environment
    /// The usual values, with the ids of this project's things.
    let names: [String: String]

    init(in environment: Environment) throws {
        front = try Storefront()
        self.environment = environment
        front.limit(by: front.admin)
        let things = try Things(front, mark: Stage.mark, in: environment)
        names = Stage.usual.merging(things.names) { $1 }
        rows =
            Stage.readingCustomers + Stage.reading(things) + Stage.finding + Stage.writes
            + Stage.webhooks + Stage.operating
    }

    private static let readingCustomers: [Row] = [
        "", "/entitlements", "/entitlements/{entitlement}", "/explain", "/notes", "/events",
        "/balances", "/balances/{currency}/history",
    ].map { Row(call: "GET /v1/customers/{customer}\($0)", role: .reader, apart: 200) }

    private static func reading(_ things: Things) -> [Row] {
        [
            Row(
                call: "POST /v1/entitlements/query", role: .reader, body: #"{"customers":["u1"]}"#,
                apart: 200),
            Row(call: "GET /v1/refund_requests", role: .reader, apart: 200),
            Row(call: "GET /v1/events", role: .reader, apart: 200),
            Row(call: "GET /v1/app_transactions/{app_transaction}", role: .reader, apart: 200),
            Row(call: "GET /v1/products", role: .reader),
            Row(call: "GET /v1/customers/{customer}/orders", role: .backend, apart: 200),
            Row(call: "GET /v1/orders/{order}", role: .backend, elsewhere: 404, apart: 404),
            Row(call: "GET /v1/intake/{id}", role: .backend, elsewhere: 404),
            Row(call: "GET /v1/grants", role: .admin, apart: 200),
            Row(call: "GET /v1/unclaimed", role: .admin, apart: 200),
            Row(
                call: "GET /v1/unclaimed/{purchase}", role: .admin, isForSupport: true,
                values: ["purchase": "apple:9"], elsewhere: 404, apart: 404),
            Row(call: "GET /v1/customers/{customer}/export", role: .admin, elsewhere: 404),
            Row(call: "GET /v1/reconciliations", role: .admin),
            Row(
                call: "GET /v1/reconciliations/{id}", role: .admin,
                values: ["id": things.reconciliation], elsewhere: 404),
            Row(call: "GET /v1/catalog", role: .admin),
            Row(call: "GET /v1/settings", role: .admin),
            Row(call: "GET /v1/test/clock", role: .admin, elsewhere: 404),
        ]
    }

    /// Makes the call about the things' environment, or about the given one.
    func send(_ row: Row, _ key: NewKey?, about other: Environment? = nil) -> Reply {
        let (method, target, body) = request(row, about: other)
        return front.service.send(method, target, key: key, body: body)
    }

    /// The call in the form in which it is sent.
    func request(
        _ row: Row, about other: Environment? = nil
    ) -> (method: String, target: String, body: String) {
        let environment = other ?? environment
        var (query, body) = ([String](), row.wholeBody())
        if row.apart != nil {
            if Stage.namingInBody.contains(row.call) {
                body = #"\#(body.dropLast()),"environment":"\#(environment.rawValue)"}"#
            } else {
                query.append("environment=\(environment.rawValue)")
            }
        }
        if row.call.hasSuffix("/receipts") || row.call.hasSuffix("/restore") {
            // The evidence itself says to which environment it belongs.
            let sale = Sale("77", "level2", .nonConsumable, at: front.daysAgo(2))
            body = front.signed([sale], by: environment).text
        }
        query += Stage.questions[row.call] ?? []
        var names = names
        if let customer = row.triedFor { names["customer"] = customer }
        let target = row.path(names) + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))
        return (row.method, target, body)
    }

    /// Makes one of the acts of the table, in production.
    func perform(_ row: Row, reason: String = "r", ticket: String?, key: NewKey? = nil) -> Reply {
        front.send(
            row.method, row.path(names), row.wholeBody(reason: reason, ticket: ticket),
            key: key ?? front.admin)
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
    let names: [String: String]
    let reconciliation: String

    init(_ front: Storefront, mark: String, in environment: Environment) throws {
        let store = front.store(of: environment)
        let place = #""environment":"\#(environment.rawValue)""#
        func month(_ transaction: String) -> Sale {
            Sale(
                transaction, "pro.month", .autoRenewable, at: front.daysAgo(1),
                until: front.daysAgo(-29))
        }
        func notify(_ type: String, _ sale: Sale) -> Reply {
            front.notify(
                store.notification(
                    type, id: "n\(sale.transaction)", at: front.daysAgo(0),
                    transaction: store.transaction(sale)))
        }
        func make(_ thing: String, _ path: String, _ members: String) throws -> String {
            let made = front.send("POST", "/v1/\(path)", "{\(members)\(place)}", key: front.admin)
            return try #require(try made.json[thing]?["id"]?.string, "\(made.text)")
        }
        let coins = Sale("2", "coins.100", .consumable, at: front.daysAgo(1))
        let bought = front.submit(front.signed([month("1"), coins], by: environment))
        #expect(try bought.outcomes == ["recorded", "recorded"])
        // The grant lasts a few days, so that support staff may change it.
        let terms = #""entitlement":"legacy","for":"P5D","reason":"\#(mark)","ticket":"\#(mark)","#
        let unclaimed = month("9").with { $0.token = "6f0a4f0e-8a0e-4b43-9f5d-0d1b6c0f8a11" }
        #expect(notify("SUBSCRIBED", unclaimed).status == 200)
        let early = Sale("10", "level2", .nonConsumable, at: front.daysAgo(1)).with {
            $0.signedAt = front.daysAgo(-1)
        }
        names = [
            "grant": try make("grant", "customers/u1/grants", terms),
            "note": try make(
                "note", "customers/u1/notes", #""text":"\#(mark)","ticket":"\#(mark)","#),
            "order": try make("order", "customers/u1/orders", ""),
            "id": try #require(try notify("ONE_TIME_CHARGE", early).json["intake"]?.string),
        ]
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
