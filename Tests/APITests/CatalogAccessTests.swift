import Core
import JSON
import Service
import TestSupport
import Testing

@Suite("Who gains and loses by a catalog")
struct CatalogAccessTests {
    private let service: TestService
    private let admin: NewKey

    init() throws {
        service = try TestService()
        admin = try service.key(.admin)
        _ = service.send("PUT", "/v1/catalog", key: admin, body: CatalogTests.shop)
    }

    /// Level 2 also unlocks `extra`, and the subscription no longer unlocks `ad_free`.
    private let proposal = CatalogTests.shop
        .replacing(#"["level2"]"#, with: #"["extra","level2"]"#)
        .replacing(#"["ad_free","pro"]"#, with: #"["pro"]"#)

    @Test("Customers who hold purchases are counted and listed, sandbox customers separately")
    func counts() throws {
        try buy("level2", .nonConsumable, by: "u1")
        try buy("pro", .autoRenewable, by: "u2", until: 30)
        try buy("level2", .nonConsumable, by: "u3")
        try buy("pro", .autoRenewable, by: "u3", until: 30)
        try buy("level2", .nonConsumable, by: "s1", in: .sandbox)
        // Expired access, balances and unclaimed purchases can be neither lost nor gained.
        try buy("pro", .autoRenewable, by: "gone", until: -1)
        try buy("coins", .consumable, by: "rich")
        try buy("level2", .nonConsumable, by: "$unclaimed/apple:9")
        let events = try service.eventCount()
        let preview = try put("?dry_run=1").json
        #expect(try service.eventCount() == events)
        #expect(
            preview["gains"]?.text
                == #"{"production":{"customers":2,"entitlements":{"extra":2}},"#
                + #""sandbox":{"customers":1,"entitlements":{"extra":1}}}"#)
        #expect(
            preview["losses"]?.text
                == #"{"production":{"customers":2,"entitlements":{"ad_free":2}},"#
                + #""sandbox":{"customers":0,"entitlements":{}}}"#)
        #expect(
            Set(try #require(preview["customers"]?.array).map(\.text)) == [
                line("u1", gained: "\"extra\""), line("u2", lost: "\"ad_free\""),
                line("u3", gained: "\"extra\"", lost: "\"ad_free\""),
                line("s1", "sandbox", gained: "\"extra\""),
            ])
        let applied = try put().json
        for name in ["changes", "gains", "losses", "customers", "more"] {
            #expect(applied[name] == preview[name])
            #expect(applied["unread"] == 0)
        }
        #expect(applied["version"]?.integer == 2)
        for (customer, isActive) in [("u1", true), ("u2", false)] {
            let read = service.send(
                "GET", "/v1/customers/\(customer)/entitlements/extra", key: admin)
            #expect(try read.json["active"]?.bool == isActive)
        }
    }

    @Test("Access that another purchase or a grant provides is not lost")
    func kept() throws {
        try buy("pro", .autoRenewable, by: "u1", until: 30)
        _ = service.send(
            "POST", "/v1/customers/u1/grants", key: admin,
            body: #"{"entitlement":"ad_free","reason":"r"}"#)
        #expect(try put("?dry_run=1").json["losses"]?.text == CatalogTests.nobody)
    }

    @Test("Counts are complete even if the list is not; other projects are unaffected")
    func many() throws {
        try service.createProject("other")
        try buy("level2", .nonConsumable, by: "elsewhere", in: .production, project: "other")
        let ledger = service.ledger
        let count = AccessCounts.listLimit + 250
        inParallel(50) { thread in
            for number in stride(from: thread, to: count, by: 50) {
                let command = try? Command.record(
                    [
                        .bought(
                            "level2", .nonConsumable, transaction: "\(number)",
                            at: Instant(milliseconds: 0))
                    ], for: .test("u\(number)"), key: "k")
                if let command { _ = try? ledger.append(command) }
            }
        }
        let reply = try put("?dry_run=1").json
        #expect(reply["gains"]?["production"]?["entitlements"]?["extra"]?.integer == Int64(count))
        let listed = try #require(reply["customers"]?.array).compactMap { $0["customer"]?.string }
        #expect(listed.count == AccessCounts.listLimit)
        #expect(Set(listed).count == AccessCounts.listLimit)
        #expect(reply["more"]?.bool == true)
    }

    @Test("An applied catalog is reported even if a customer or a row is unreadable")
    func unreadable() throws {
        for name in ["u1", "u2"] { try buy("level2", .nonConsumable, by: name) }
        try service.database.run(
            """
            alter table deed.events disable trigger all;
            update deed.events set payload = '{}' where customer = 'u2';
            insert into deed.customers (shard, project, environment, customer, version,
                catalog_version, runs) values (3, 'default', 'mars', 'u7', 1, 0, '{}')
            """)
        let other = try TestService(beside: service)
        let reply = other.send("PUT", "/v1/catalog", key: admin, body: proposal)
        #expect(reply.status == 200, "\(reply.text)")
        #expect(try reply.json["applied"] == true && reply.json["unread"] == 1)
        #expect(try reply.json["gains"]?["production"]?["customers"] == 1)
    }

    @Test(
        "Pages of any size list every customer of the project once, with the recorded state",
        arguments: [1, 2, 7, 100])
    func pages(_ limit: Int) throws {
        let names = (0..<25).map { "u\($0)" }
        for name in names { try buy("level2", .nonConsumable, by: name) }
        try buy("level2", .nonConsumable, by: "u1", in: .sandbox)
        var listed: [ListedCustomer] = []
        while true {
            let page = try service.ports.directory.customers(
                of: ProjectID("default"), after: listed.last?.stream, limit: limit)
            if page.isEmpty { break }
            #expect(page.count <= limit)
            listed += page
        }
        #expect(listed.count == 26)
        #expect(Set(listed.map(\.stream)).count == 26)
        for customer in listed {
            #expect(try customer.state == service.ledger.customer(of: customer.stream).customer)
        }
    }

    private func put(_ query: String = "") -> Reply {
        service.send("PUT", "/v1/catalog\(query)", key: admin, body: proposal)
    }

    private func line(
        _ customer: String, _ environment: String = "production", gained: String = "",
        lost: String = ""
    ) -> String {
        #"{"customer":"\#(customer)","environment":"\#(environment)","gained":[\#(gained)],"#
            + #""lost":[\#(lost)]}"#
    }

    private func buy(
        _ product: String, _ kind: ProductKind, by customer: String,
        in environment: Environment = .production, until days: Int64? = nil,
        project: String = "default"
    ) throws {
        let now = service.clock.now
        let end = days.map { now.advanced(byMilliseconds: $0 * 86_400_000) }
        var fact = try TransactionFact.bought(
            product, kind, transaction: "\(product)-\(customer)",
            at: now.advanced(byMilliseconds: -5 * 86_400_000), until: end)
        fact.environment = environment
        let stream = try Stream.test(customer, project: project, environment: environment)
        _ = try service.ledger.append(.record([fact], for: stream, key: product))
    }
}
