import Core
import JSON
import Minting
import Service
import TestSupport
import Testing

/// A service with an app and a catalog, and the store that sells for it.
struct Storefront {
    let service: TestService
    let backend: NewKey
    let admin: NewKey
    let store = MintedStore()
    let sandbox = MintedStore(environment: "Sandbox")

    static let catalog = """
        {"products":[
          {"id":"coins.100","kind":"consumable","credits":{"coins":100}},
          {"id":"level2","kind":"non_consumable","entitlements":["level2"]},
          {"id":"season","kind":"non_renewing","duration":"P3M","entitlements":["season"]},
          {"id":"pro.month","kind":"auto_renewable","group":"pro","level":1,"entitlements":["pro"]}],
         "entitlements":{"pro":{},"level2":{},"season":{},"legacy":{}},"currencies":{"coins":{}},
         "original_app_version":[{"below":"2.0","entitlements":["legacy"]}]}
        """

    init(settings: String? = nil, takesProduction: Bool = true) throws {
        service = try TestService(takesProduction: takesProduction)
        backend = try service.key(.backend)
        admin = try service.key(.admin)
        try expect(200, send("PUT", "/v1/catalog", Self.catalog, key: admin))
        try expect(200, send("PUT", "/v1/apps/\(Payload.bundleID)", "{}", key: admin))
        if let settings {
            try expect(200, send("PATCH", "/v1/settings", settings, key: admin))
        }
    }

    private struct Unexpected: Error {
        let answer: String
    }

    private func expect(_ status: Int, _ reply: Reply) throws {
        if reply.status != status { throw Unexpected(answer: reply.text) }
    }

    /// Returns the instant this many days before the service's clock, on a full second.
    func daysAgo(_ days: Int64) -> Instant {
        service.clock.now.advanced(byMilliseconds: -days * 86_400_000)
    }

    func send(
        _ method: String, _ target: String, _ body: String = "", key: NewKey? = nil,
        idempotencyKey: String? = nil, through other: TestService? = nil
    ) -> Reply {
        (other ?? service).send(
            method, target, key: key ?? backend,
            headers: idempotencyKey.map { [("Idempotency-Key", $0)] } ?? [], body: body)
    }

    func submit(
        _ evidence: JSON, for customer: String = "u1", restore: Bool = false,
        idempotencyKey: String? = nil, through other: TestService? = nil
    ) -> Reply {
        send(
            "POST", "/v1/customers/\(customer)/\(restore ? "restore" : "receipts")", evidence.text,
            idempotencyKey: idempotencyKey, through: other)
    }

    func submit(
        _ sales: Sale..., for customer: String = "u1", restore: Bool = false,
        idempotencyKey: String? = nil
    ) -> Reply {
        submit(
            signed(sales), for: customer, restore: restore, idempotencyKey: idempotencyKey)
    }

    func signed(_ sales: [Sale]) -> JSON {
        ["signed_transactions": .array(sales.map { .string(store.transaction($0)) })]
    }

    /// Judges the next queued item.
    func work() throws -> IntakeWorker.Work? {
        try IntakeWorker(Submissions(service.intake, apps: service.apps)).work()
    }

    /// Delivers a notification's body, as the store does.
    func notify(_ body: String, through other: TestService? = nil) -> Reply {
        (other ?? service).send("POST", "/v1/stores/apple/notifications", body: body)
    }

    func entitlement(_ id: String, of customer: String = "u1") throws -> JSON {
        try send("GET", "/v1/customers/\(customer)/entitlements/\(id)").json
    }

    func isActive(_ id: String, for customer: String = "u1") throws -> Bool? {
        try entitlement(id, of: customer)["active"]?.bool
    }

    func coins(of customer: String = "u1") throws -> Int64? {
        try send("GET", "/v1/customers/\(customer)/balances").json["balances"]?["coins"]?.integer
    }

    func events(of customer: String = "u1", _ query: String = "") throws -> [String] {
        let reply = send("GET", "/v1/customers/\(customer)/events?limit=1000\(query)")
        return try (reply.json["events"]?.array ?? []).compactMap { $0["type"]?.string }
    }
}

extension Reply {
    var outcomes: [String] {
        get throws {
            try #require(try json["items"]?.array, "\(text)").compactMap { $0["outcome"]?.string }
        }
    }

    var code: String? { (try? json)?["code"]?.string }
}
