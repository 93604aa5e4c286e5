import Core
import JSON
import Service
import TestSupport
import Testing

@Suite("Sandbox purchases in production answers")
struct SandboxTests {
    private let service: TestService
    private let admin: NewKey
    private let path = "/v1/customers/u1/entitlements"

    init() throws {
        service = try TestService()
        admin = try service.key(.admin)
        _ = service.send("PUT", "/v1/catalog", key: admin, body: CatalogTests.shop)
    }

    @Test("They count as the app's settings say, are marked, and stop with the setting")
    func access() throws {
        try buy("pro", transaction: "1", for: "u1")
        #expect(try entitlements() == [:])
        try setAccess(#""sandbox_access":"all""#)
        #expect(try entitlements()["pro"]?["active"] == true)
        #expect(try entitlements()["pro"]?["sandbox"] == true)
        #expect(try entitlements()["pro"]?["purchase"]?.string == "apple:1")
        try setAccess(#""sandbox_access":"listed","sandbox_customers":["u2"]"#)
        #expect(try entitlements() == [:])
        try setAccess(#""sandbox_access":"listed","sandbox_customers":["u1","u2"]"#)
        #expect(try entitlements()["pro"]?["active"] == true)
        try setAccess(#""sandbox_access":"none""#)
        #expect(try entitlements() == [:])
    }

    @Test("A change in either environment changes the answer at once, on other instances too")
    func eitherWorld() throws {
        try setAccess(#""sandbox_access":"all""#)
        let other = try TestService(beside: service)
        #expect(try entitlements() == [:])
        _ = other.send("GET", path, key: admin)
        #expect(service.send("GET", path, key: admin).isImmediate)
        try buy("pro", transaction: "1", for: "u1")
        #expect(try entitlements()["pro"]?["active"] == true)
        _ = service.send("GET", path, key: admin)
        let given = service.send(
            "POST", "/v1/customers/u1/grants", key: admin,
            body: #"{"entitlement":"vip","reason":"r","allow_unknown":true}"#)
        #expect(given.status == 201)
        #expect(Set(try entitlements().keys).isSuperset(of: ["pro", "vip"]))
        #expect(try entitlements()["vip"]?["sandbox"] == false)
        #expect(
            eventually(within: 3000) {
                let json = try? other.send("GET", path, key: admin).json["entitlements"]
                return json?["pro"] != nil && json?["vip"] != nil
            })
        #expect(service.send("GET", path, key: admin).isImmediate)
    }

    @Test("After a sandbox write's position, production answers include it on any instance")
    func position() throws {
        try setAccess(#""sandbox_access":"all""#)
        let other = try TestService(beside: service)
        for number in 1...20 {
            _ = other.send("GET", path, key: admin)
            let position = try buy("pro", transaction: "\(number)", for: "u1")
            let reply = other.send(
                "GET", "/v1/customers/u1", key: admin,
                headers: [("Deed-After", position.description)])
            #expect(try reply.json["purchases"]?.array?.count == number)
            let read = other.send(
                "GET", path, key: admin, headers: [("Deed-After", position.description)])
            #expect(try read.json["entitlements"]?["pro"]?["active"] == true)
        }
    }

    @Test("Grants and balances of the sandbox stay there, and so does its own answer")
    func apart() throws {
        try setAccess(#""sandbox_access":"all""#)
        _ = service.send(
            "POST", "/v1/customers/u1/grants?environment=sandbox", key: admin,
            body: #"{"entitlement":"vip","reason":"r","allow_unknown":true}"#)
        try buy("coins", transaction: "7", for: "u1", .consumable)
        #expect(try entitlements() == [:])
        let balances = service.send("GET", "/v1/customers/u1/balances", key: admin)
        #expect(try balances.json["balances"] == [:])
        let sandbox = service.send("GET", "\(path)?environment=sandbox", key: admin)
        #expect(try sandbox.json["entitlements"]?["vip"]?["sandbox"] == true)
    }

    @Test(
        "Sandbox balances appear next to production's if they count, and are spent only there"
    )
    func balances() throws {
        try buy("coins", transaction: "7", for: "u1", .consumable)
        func read(_ target: String) throws -> JSON {
            try service.send("GET", "/v1/customers/u1\(target)", key: admin).json
        }
        #expect(try read("/balances")["sandbox_balances"] == nil)
        #expect(try read("")["sandbox_balances"] == nil)
        try setAccess(#""sandbox_access":"all""#)
        #expect(try read("/balances")["balances"] == [:])
        #expect(try read("/balances")["sandbox_balances"] == ["coins": 100])
        #expect(try read("")["sandbox_balances"] == ["coins": 100])
        #expect(try read("/balances?environment=sandbox")["balances"] == ["coins": 100])
        #expect(try read("/balances?environment=sandbox")["sandbox_balances"] == nil)
        let spent = service.send(
            "POST", "/v1/customers/u1/balances/coins/spend", key: admin, body: #"{"amount":1}"#)
        #expect(spent.status == 409)
        #expect(try spent.json["code"]?.string == "insufficient_balance")
        #expect(try spent.json["balance"]?.integer == 0)
        let detail = try spent.json["detail"]?.string ?? ""
        #expect(detail.contains("in the sandbox it is 100, which a spend with the environment"))
        let there = service.send(
            "POST", "/v1/customers/u1/balances/coins/spend", key: admin,
            body: #"{"amount":101,"environment":"sandbox"}"#)
        #expect(try there.json["detail"]?.string?.hasSuffix("nothing was spent.") == true)
        try setAccess(#""sandbox_access":"listed","sandbox_customers":["u2"]"#)
        #expect(try read("/balances")["sandbox_balances"] == nil)
    }

    @Test(
        "The settings of two apps with one name in two stores count separately",
        arguments: [("", "?store=google"), ("?store=google", "")])
    func sameName(_ counting: String, _ other: String) throws {
        try setAccess(#""sandbox_access":"all""#, of: "com.example.game\(counting)")
        try setAccess(#""sandbox_access":"none""#, of: "com.example.game\(other)")
        try buy("pro", transaction: "1", for: "u1")
        try buy("pro", transaction: "1", for: "u1", in: .google)
        let view = try service.send("GET", "/v1/customers/u1", key: admin).json
        let expected = counting.isEmpty ? "apple:1" : "google:1"
        #expect(view["purchases"]?.array?.map { $0["purchase"]?.string } == [expected])
    }

    @Test("Explanations and queries agree with the answer")
    func everywhere() throws {
        try setAccess(#""sandbox_access":"all""#)
        try buy("pro", transaction: "1", for: "u1")
        let explained = try service.send(
            "GET", "/v1/customers/u1/explain?entitlement=pro", key: admin
        ).json
        #expect(explained["answer"]?["sandbox"] == true)
        #expect(explained["events"]?.array?.map { $0["environment"]?.string } == ["sandbox"])
        let queried = try service.send(
            "POST", "/v1/entitlements/query", key: admin, body: #"{"customers":["u1","u2"]}"#
        ).json
        let alone = try service.send("GET", path, key: admin).json
        #expect(queried["answers"]?.array?[0] == alone)
        #expect(
            try service.send(
                "GET", "\(path)?known=2026-11-20T19:20:59Z", key: admin
            ).json["entitlements"] == [:])
    }

    private func setAccess(_ members: String, of app: String = "com.example.game") throws {
        let reply = service.send("PUT", "/v1/apps/\(app)", key: admin, body: "{\(members)}")
        #expect(reply.status == 200, "\(reply.text)")
    }

    @discardableResult
    private func buy(
        _ product: String, transaction: String, for customer: String,
        _ kind: ProductKind = .autoRenewable, in store: Store = .apple
    ) throws -> Position {
        let start = service.clock.now
        var fact = try TransactionFact.bought(
            product, kind, transaction: transaction, at: start,
            until: kind == .consumable ? nil : start.advanced(byMilliseconds: 86_400_000))
        (fact.store, fact.environment) = (store, .sandbox)
        return try service.ledger.append(
            .record(
                [fact], for: .test(customer, environment: .sandbox),
                key: "\(store.rawValue):\(transaction)")
        ).position
    }

    private func entitlements() throws -> [String: JSON] {
        let members = try service.send("GET", path, key: admin).json["entitlements"]?.object?
            .members
        return Dictionary(uniqueKeysWithValues: (members ?? []).map { ($0.name, $0.value) })
    }
}
