import Core
import Histories
import JSON
import Minting
import Service
import Telemetry
import TestSupport
import Testing

@Suite("Products that the catalog does not know, over the API")
struct UnknownProductTests {
    private let front: Storefront

    init() throws {
        front = try Storefront()
    }

    private func gems(_ transaction: String) -> Sale {
        Sale(transaction, "gems.10", .consumable, at: front.daysAgo(1))
    }

    @Test("An item of a product that the catalog does not know carries a warning")
    func warning() throws {
        let known = Sale("1", "coins.100", .consumable, at: front.daysAgo(1))
        let reply = front.submit(known, gems("2"))
        let items = try #require(try reply.json["items"]?.array)
        #expect(
            items.map(\.text) == [
                #"{"index":0,"outcome":"recorded","purchase":"apple:1","transaction":"1"}"#,
                #"{"index":1,"outcome":"recorded","purchase":"apple:2","transaction":"2","#
                    + #""warning":"product_unknown","product":"gems.10"}"#,
            ])
        let again = front.submit(gems("2"))
        #expect(try again.json["items"]?.array?.first?["warning"]?.string == "product_unknown")
        #expect(front.service.metrics.text().contains("deed_products_unknown_total 1\n"))
    }

    @Test("News of an already recorded purchase does not count the purchase again")
    func counted() throws {
        func counts(_ number: Int) -> Bool {
            front.service.metrics.text().contains("deed_products_unknown_total \(number)\n")
        }
        _ = front.submit(gems("2"))
        let refunded = front.submit(gems("2").with { $0.refunded = front.daysAgo(0) })
        let item = try #require(try refunded.json["items"]?.array?.first)
        #expect(item["outcome"]?.string == "recorded")
        #expect(item["warning"]?.string == "product_unknown")
        #expect(counts(1))
        _ = front.submit(gems("3"), for: "u2")
        #expect(counts(2))
    }

    private static let withGems = Storefront.catalog.replacing(
        #"{"products":["#,
        with: #"{"products":[{"id":"gems.10","kind":"consumable","credits":{"gems":10}},"#)

    private func put(_ catalog: String, _ query: String = "") throws -> JSON {
        let reply = front.send("PUT", "/v1/catalog\(query)", catalog, key: front.admin)
        #expect(reply.status == 200, "\(reply.text)")
        return try reply.json
    }

    private func gemsOf(_ customer: String) throws -> Int64? {
        try front.send("GET", "/v1/customers/\(customer)/balances").json["balances"]?["gems"]?
            .integer
    }

    private func count(_ table: String) throws -> Int64 {
        try front.service.database.number("select count(*) from deed.\(table)")
    }

    @Test("The log warns of each unknown product once an hour")
    func log() throws {
        func warnings() -> Int { front.service.logged.all.count { $0.contains("product_unknown") } }
        _ = front.submit(gems("1"))
        _ = front.submit(gems("2"))
        #expect(warnings() == 1)
        _ = front.submit(gems("3").with { $0.product = "gems.20" })
        #expect(warnings() == 2)
        front.service.clock.advance(byMilliseconds: 3_600_000)
        _ = front.submit(gems("4"))
        #expect(warnings() == 3)
        #expect(front.service.logged.all.last?.contains(#""product":"gems.10""#) == true)
    }

    @Test("A dry run and an applied catalog report purchases that wait for new products")
    func waiting() throws {
        for number in 1...3 { _ = front.submit(gems("\(number)"), for: "u\(number % 2)") }
        let expected = #"[{"store":"apple","product":"gems.10","purchases":3}]"#
        #expect(try put(Self.withGems, "?dry_run=1")["waiting"]?.text == expected)
        #expect(try put(Self.withGems)["waiting"]?.text == expected)
        try front.service.projectAnew()
        #expect(try put(Storefront.catalog)["waiting"]?.text == "[]")
        // Purchases that were already credited do not wait again when their product returns.
        #expect(try put(Self.withGems)["waiting"]?.text == "[]")
    }

    @Test(
        "A purchase from before its product was known is credited once, by two instances"
    )
    func credited() throws {
        for number in 1...9 { _ = front.submit(gems("\(number)"), for: "u\(number % 3)") }
        _ = front.submit(gems("10").with { $0.refunded = front.daysAgo(0) })
        _ = try put(Self.withGems)
        // A customer makes another purchase in between.
        _ = front.submit(Sale("99", "coins.100", .consumable, at: front.daysAgo(1)), for: "u2")
        let other = try TestService(beside: front.service)
        inParallel(2) { lane in try? (lane == 0 ? front.service : other).projectAnew() }
        try front.service.projectAnew()
        for customer in ["u0", "u1", "u2"] { #expect(try gemsOf(customer) == 30) }
        #expect(try count("waiting_credits") == 0)
        let events = try front.send("GET", "/v1/customers/u0/events").json["events"]?.array ?? []
        let credits = events.filter { $0["type"]?.string == "balance.credited" }
        #expect(credits.count == 3)
        #expect(credits.allSatisfy { $0["cause"]?.string?.hasPrefix("catalog:2/") == true })
        #expect(credits.allSatisfy { $0["actor"]?.string == "deed:catalog" })
        let recorded = try front.service.eventCount()
        _ = front.submit(gems("3"), for: "u0")
        _ = try put(Storefront.catalog)
        _ = try put(Self.withGems.replacing("\"gems\":10", with: "\"gems\":20"))
        try front.service.projectAnew()
        #expect(try front.service.eventCount() == recorded + 2)
        #expect(try gemsOf("u0") == 30)
    }

    @Test(
        "A token with several unknown products waits until a catalog has the last one",
        arguments: [["skin", "gems"], ["gems", "skin"]])
    func basket(_ order: [String]) throws {
        let worth: [String: Int64] = ["skin": 1, "gems": 10]
        let fact = playReading(.purchased, at: at(1), [playGood("skin"), playGood("gems", 2)])
        _ = try front.service.ledger.append(.record([fact], for: .test("u1"), key: "basket"))
        #expect(try count("waiting_credits") == 1)
        var (products, expected): ([String], Int64) = ([], 0)
        for name in order {
            let amount = try #require(worth[name])
            products.append(
                #"{"store":"google","id":"\#(name)","kind":"consumable","credits":{"gems":\#(amount)}}"#
            )
            expected += name == "gems" ? 2 * amount : amount
            _ = try put(#"{"products":[\#(products.joined(separator: ","))]}"#)
            try front.service.projectAnew()
            #expect(try gemsOf("u1") == expected)
            #expect(try count("waiting_credits") == (products.count == order.count ? 0 : 1))
        }
        try front.service.projectAnew()
        #expect(try gemsOf("u1") == expected)
    }

    @Test("A job that dies between crediting and clean-up credits nothing again")
    func crash() throws {
        _ = front.submit(gems("1"))
        let database = front.service.database
        try database.run("create table deed.kept as table deed.waiting_credits")
        _ = try put(Self.withGems)
        try front.service.projectAnew()
        try database.run("insert into deed.waiting_credits table deed.kept")
        try database.run("update deed.projects set projected_version = 0")
        try front.service.projectAnew()
        #expect(try gemsOf("u1") == 10)
        #expect(try front.events() == ["purchase.made", "balance.credited"])
        #expect(try count("waiting_credits") == 0)
    }

    @Test("A later catalog does not add what a known product did not add")
    func known() throws {
        let plain = #"{"products":[{"id":"gems.10","kind":"non_consumable","entitlements":["x"]}]}"#
        _ = try put(plain)
        _ = front.submit(gems("1"))
        #expect(try count("waiting_credits") == 0)
        _ = try put(Self.withGems)
        try front.service.projectAnew()
        #expect(try gemsOf("u1") == nil)
    }

    @Test("An unclaimed purchase is credited once it is claimed and its product is known")
    func unclaimed() throws {
        let sent = front.store.notification(
            "ONE_TIME_CHARGE", id: "n", at: front.daysAgo(0),
            transaction: front.store.transaction(gems("1")))
        _ = front.notify(sent)
        #expect(try count("waiting_credits") == 0)
        let attach = { (purchase: String) in
            front.send(
                "POST", "/v1/unclaimed/\(purchase)/attach", #"{"customer":"u1","reason":"r"}"#,
                key: front.admin)
        }
        #expect(attach("apple:1").status == 200)
        #expect(try count("waiting_credits") == 1)
        _ = try put(Self.withGems)
        try front.service.projectAnew()
        #expect(try gemsOf("u1") == 10)
    }

    @Test("A row that cannot be read is named in the log and keeps no project from being projected")
    func damagedRow() throws {
        _ = front.submit(gems("1"))
        _ = try put(Self.withGems)
        // The project `a` sorts first and has a row that no release writes.
        try front.service.database.run(
            """
            insert into deed.projects (project, created_at, catalog_version) values ('a', 0, 1);
            insert into deed.waiting_credits
            values (0, 'a', 'nowhere', 'u1', 'apple', '1', '1', 'gems.10')
            """)
        try front.service.projectAnew()
        #expect(try gemsOf("u1") == 10)
        #expect(try count("waiting_credits") == 1)
        let unread = front.service.logged.all.filter { $0.contains(#""event":"stream_unread""#) }
        #expect(unread.count == 1)
        #expect(unread.allSatisfy { $0.contains("nowhere") && $0.contains("u1") })
    }

    @Test("A project with a fault does not prevent others from being projected")
    func oneFaults() throws {
        _ = front.submit(gems("1"))
        _ = try put(Self.withGems)
        // The project `a` sorts first, and its customer's stream refuses writes.
        try front.service.database.run(
            """
            insert into deed.projects (project, created_at, catalog_version) values ('a', 0, 1);
            create function refuse() returns trigger language plpgsql as
                $$ begin raise exception 'this project is refused'; end $$;
            create trigger refuse before update on deed.projects for each row
                when (new.project = 'a') execute function refuse()
            """)
        #expect(throws: Fault.self) { try front.service.projectAnew() }
        #expect(try gemsOf("u1") == 10)
    }

    @Test("In any race of purchases with the catalog of their product, each is credited once")
    func race() throws {
        let other = try TestService(beside: front.service)
        try other.apps.reload()
        inParallel(9) { lane in
            if lane == 8 {
                _ = try? put(Self.withGems)
                return
            }
            for number in 0..<10 {
                _ = front.submit(
                    front.signed([gems("\(lane)-\(number)")]), for: "u\(lane)",
                    through: lane % 2 == 0 ? other : nil)
            }
        }
        try front.service.projectAnew()
        for lane in 0..<8 { #expect(try gemsOf("u\(lane)") == 100) }
        #expect(try count("waiting_credits") == 0)
    }
}
