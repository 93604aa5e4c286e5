import Core
import JSON
import Minting
import Service
import TestSupport
import Testing

@Suite("The feed", .timeLimit(.minutes(20)))
struct FeedTests {
    private let front: Storefront
    private var service: TestService { front.service }

    init() throws {
        front = try Storefront()
    }

    private func give(_ entitlement: String, to customer: String) {
        let reply = front.send(
            "POST", "/v1/customers/\(customer)/grants",
            #"{"entitlement":"\#(entitlement)","reason":"r","allow_unknown":true}"#,
            key: front.admin)
        #expect(reply.status == 201)
    }

    private func feed(_ query: String = "") throws -> FeedReply {
        try service.feed(query, key: front.backend)
    }

    @Test("An item is the customer's event, with an id and its changes")
    func item() throws {
        let sale = Sale("1", "level2", .nonConsumable, at: front.daysAgo(0))
        #expect(try front.submit(sale).outcomes == ["recorded"])
        let page = try feed()
        let own = front.send("GET", "/v1/customers/u1/events")
        let events = try #require(try own.json["events"]?.array)
        #expect(page.events.count == events.count && !page.isMore)
        for (item, event) in zip(page.events, events) {
            for member in try #require(event.object).members {
                #expect(item[member.name]?.text == member.value.text)
            }
            #expect(item.customer == "u1" && item["environment"]?.string == "production")
            let place = event["position"]?.string?.replacing(":", with: "-") ?? "?"
            #expect(item.id.hasPrefix("\(place)-") && item.id.count == place.count + 9)
        }
        #expect(page.events[0].changes == ["level2 started"])
        let change = try #require(page.events[0]["access"]?.array?.first)
        #expect(change["before"] == .null)
        let answer = try front.send("GET", "/v1/customers/u1/entitlements").json
        #expect(change["after"]?.text == answer["entitlements"]?["level2"]?.text)
        let bare = try feed("access=0").events
        #expect(bare.count == events.count && bare.allSatisfy { $0["access"] == nil })
        #expect(bare.map(\.id) == page.events.map(\.id))
    }

    @Test("Pages of any length contain each event once, in each customer's order")
    func pages() throws {
        for number in 0..<60 {
            give("pro", to: "u\(number % 7)")
            give("vip\(number)", to: "u\(number)")
        }
        let all = try service.wholeFeed("limit=1000", key: front.backend)
        #expect(all.count == 120)
        for limit in [1, 3, 64, 119] {
            let paged = try service.wholeFeed("limit=\(limit)", key: front.backend)
            #expect(paged.count == 120 && Set(paged.map(\.id)) == Set(all.map(\.id)))
            for (customer, events) in Dictionary(grouping: paged, by: \.customer) {
                let versions = events.compactMap { $0["version"]?.integer }
                #expect(versions == (1...Int64(events.count)).map(\.self), "\(customer)")
                #expect(events.map(\.text) == all.filter { $0.customer == customer }.map(\.text))
            }
        }
    }

    @Test("Short pages visit every shard in turn, whatever the others' backlog")
    func turns() throws {
        for number in 0..<40 { give("vip\(number)", to: "busy") }
        for number in 0..<20 { give("pro", to: "u\(number)") }
        var (next, seen) = ("", Set<String>())
        for _ in 0..<30 {
            let page = try feed("limit=1" + (next.isEmpty ? "" : "&after=\(next)"))
            next = page.next
            for event in page.events { seen.insert(event.customer) }
        }
        #expect(seen.count >= 15)
    }

    @Test("A cursor works with any filter, and skips what a filter leaves out")
    func filters() throws {
        give("pro", to: "u1")
        let sale = Sale("1", "coins.100", .consumable, at: front.daysAgo(0))
        #expect(try front.submit(sale, for: "u2").outcomes == ["recorded"])
        give("pro", to: "u3")
        #expect(try feed("types=grant.given").events.map(\.customer).sorted() == ["u1", "u3"])
        #expect(
            try feed("types=purchase.*,balance.credited").events.map(\.type)
                == ["purchase.made", "balance.credited"])
        #expect(try feed("types=entitlement.started").events.count == 2)
        #expect(
            try feed("types=entitlement.started&access=0").events.allSatisfy {
                $0["access"] == nil
            })
        #expect(try feed("types=entitlement.ended").events.isEmpty)
        #expect(try feed("customer=u2").events.map(\.customer) == ["u2", "u2"])
        let page = try feed("customer=u2&types=balance.*")
        #expect(page.events.map(\.type) == ["balance.credited"] && !page.isMore)
        let end = page.next
        #expect(try feed("after=\(end)").events.isEmpty)
        give("pro", to: "u4")
        #expect(try feed("after=\(end)").events.map(\.customer) == ["u4"])
        #expect(try feed("environment=sandbox").events.isEmpty)
    }

    @Test("The feed starts at the end or at an instant, as requested")
    func starts() throws {
        give("pro", to: "u1")
        let end = try feed("after=end")
        #expect(end.events.isEmpty && !end.isMore)
        service.clock.advance(byMilliseconds: 1000)
        let middle = service.clock.now
        for number in 0..<10 {
            give("pro", to: "v\(number)")
            service.clock.advance(byMilliseconds: 1)
        }
        #expect(try feed("after=\(end.next)").events.count == 10)
        for (later, count) in [(-1, 10), (0, 10), (1, 9), (9, 1), (10, 0)] {
            let instant = middle.advanced(byMilliseconds: Int64(later))
            #expect(try feed("since=\(instant.text)").events.count == count, "\(later)")
        }
        #expect(try feed("since=2000-01-01T00:00:00Z").events.count == 11)
        #expect(try feed("since=9999-01-01T00:00:00Z").events.isEmpty)
    }

    @Test("Events about waiting purchases and about the project are left out")
    func reserved() throws {
        let sale = Sale("1", "level2", .nonConsumable, at: front.daysAgo(0))
        let news = front.store.notification(
            "ONE_TIME_CHARGE", id: "n1", at: front.daysAgo(0),
            transaction: front.store.transaction(sale))
        #expect(front.notify(news).status == 200)
        let page = try feed()
        #expect(page.events.isEmpty && !page.isMore)
        #expect(try service.database.number("select count(*) from deed.events") > 3)
        #expect(try service.database.number("select count(*) from deed.feed") == 0)
    }

    @Test("A small project's pages skip others' events, and its lag counts them")
    func others() throws {
        try service.createProject("small")
        let key = try service.key(.reader, project: "small")
        let end = try service.feed("after=end", key: key)
        for number in 0..<50 { give("pro", to: "u\(number)") }
        let page = try service.feed("after=\(end.next)", key: key)
        #expect(page.events.isEmpty && !page.isMore && page.lag == 0)
        let start = try service.feed("limit=1", key: key)
        #expect(start.events.isEmpty)
    }

    @Test("The clock, catalogs, moves and revocations appear by what they change")
    func kinds() throws {
        let month = Sale(
            "1", "pro.month", .autoRenewable, at: front.daysAgo(0), until: front.daysAgo(-30))
        #expect(try front.submit(month).outcomes == ["recorded"])
        let moved = front.send(
            "POST", "/v1/customers/u1/purchases/apple:1/transfer", #"{"to":"u2","reason":"r"}"#,
            key: front.admin)
        #expect(moved.status == 200, "\(moved.text)")
        service.clock.advance(byMilliseconds: 31 * 86_400_000)
        try service.publishBoundaries()
        let level = Sale("2", "level2", .nonConsumable, at: front.daysAgo(0))
        #expect(try front.submit(level).outcomes == ["recorded"])
        let without = Storefront.catalog.replacing(
            #""kind":"non_consumable","entitlements":["level2"]"#,
            with: #""kind":"non_consumable","entitlements":["legacy"]"#)
        #expect(front.send("PUT", "/v1/catalog", without, key: front.admin).status == 200)
        try service.projectAnew()
        try service.publishBoundaries()
        let told = try service.wholeFeed(key: front.backend).map {
            "\($0.customer) \($0.type): \($0.changes.joined(separator: ", "))"
        }
        #expect(
            Set(told) == [
                "u1 purchase.made: pro started", "u1 purchase.detached: pro ended",
                "u2 purchase.attached: pro started", "u2 access.ended: pro ended",
                "u1 purchase.made: level2 started", "u1 access.ended: legacy started, level2 ended",
                "u1 access.started: ",
            ])
    }
}
