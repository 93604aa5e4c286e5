import Core
import HTTPServer
import JSON
import Service
import Synchronization
import TestSupport
import Testing

@Suite("Nights in which Google is asked", .timeLimit(.minutes(20)))
struct PlayNightTests {
    @Test(
        "A subscription that should have renewed is asked about, and a second night finds nothing")
    func renewal() throws {
        let period = Mutex((number: 0, end: Instant(milliseconds: 0)))
        let store = try CannedPlay { path, _, _ in
            if path == "/token" { return reply(granted) }
            let (number, end) = period.withLock { $0 }
            return reply([
                "subscriptionState": "SUBSCRIPTION_STATE_ACTIVE",
                "startTime": "2026-11-20T19:00:00Z",
                "lineItems": [
                    [
                        "productId": "pro", "expiryTime": .string(end.text),
                        "latestSuccessfulOrderId": .string("GPA.1..\(number)"),
                        "autoRenewingPlan": ["autoRenewEnabled": true],
                    ]
                ],
            ])
        }
        let shop = try PlayShopfront(store.url, onOneClock: true)
        let start = shop.service.clock.now
        period.withLock { $0 = (0, start.advanced(byMilliseconds: 3_600_000)) }
        let first = shop.submit(["t"])
        #expect(first.status == 200, "\(first.text)")
        shop.service.clock.advance(byMilliseconds: 2 * 3_600_000)
        let lapsed = shop.service.send(
            "GET", "/v1/customers/u1/entitlements", key: shop.backend)
        #expect(try lapsed.json["entitlements"]?["pro"]?["active"] == false, "\(lapsed.text)")
        let end = start.advanced(byMilliseconds: 25 * 3_600_000)
        period.withLock { $0 = (1, end) }
        var wish = ReconcileWish(project: try ProjectID("default"))
        wish.plan.steps = [.subscriptions]
        let night = try shop.service.reconcile(wish)
        #expect(night.isSound, "\(night.errors)")
        #expect(night.steps[.subscriptions]?.mended == 1)
        let renewed = shop.service.send(
            "GET", "/v1/customers/u1/entitlements", key: shop.backend)
        let pro = try renewed.json["entitlements"]?["pro"]
        #expect(pro?["active"] == true && pro?["until"]?.string == end.text, "\(renewed.text)")
        let second = try shop.service.reconcile(wish)
        #expect(second.isSound && second.steps[.subscriptions]?.found ?? 0 == 0)
    }

    /// A fake Google's answers about each token.
    private final class SharedAnswers: Sendable {
        private let all = Mutex<[String: JSON]>([:])

        subscript(token: String) -> JSON? {
            get { all.withLock { $0[token] } }
            set { all.withLock { $0[token] = newValue } }
        }
    }

    private func subscription(
        _ order: String, _ state: String = "ACTIVE", from start: Instant, to end: Instant
    ) -> JSON {
        [
            "subscriptionState": .string("SUBSCRIPTION_STATE_\(state)"),
            "startTime": .string(start.text), "etag": .string("\(order) \(state) \(end.text)"),
            "lineItems": [
                [
                    "productId": "pro", "expiryTime": .string(end.text),
                    "latestSuccessfulOrderId": .string(order),
                    "autoRenewingPlan": ["autoRenewEnabled": .bool(state == "ACTIVE")],
                ]
            ],
        ]
    }

    private func store(_ answers: SharedAnswers) throws -> CannedPlay {
        try CannedPlay { path, _, _ in
            if path == "/token" { return reply(granted) }
            let token = path.split(separator: "/").last.map(String.init) ?? ""
            return answers[token].map { reply($0) } ?? refusal(404)
        }
    }

    /// Runs the step that asks about subscriptions, as in one night.
    private func night(_ shop: PlayShopfront) throws -> ReconciliationFinished {
        var wish = ReconcileWish(project: try ProjectID("default"))
        wish.plan.steps = [.subscriptions]
        return try shop.service.reconcile(wish)
    }

    private func end(of shop: PlayShopfront, _ customer: String = "u1") throws -> String? {
        let reply = shop.service.send(
            "GET", "/v1/customers/\(customer)/entitlements", key: shop.backend)
        let pro = try reply.json["entitlements"]?["pro"]
        return pro?["active"] == true ? pro?["until"]?.string : nil
    }

    private static let hour: Int64 = 3_600_000

    @Test(
        "What was bought again in Play's own screens renews, although Google names no link any more"
    )
    func comesBack() throws {
        let answers = SharedAnswers()
        let store = try store(answers)
        let shop = try PlayShopfront(store.url, onOneClock: true)
        let start = shop.service.clock.now
        func at(_ hours: Int64) -> Instant { start.advanced(byMilliseconds: hours * Self.hour) }
        answers["old"] = subscription("GPA.1", from: at(0), to: at(1))
        #expect(shop.submit(["old"]).status == 200)
        shop.service.clock.advance(byMilliseconds: 2 * Self.hour)
        answers["old"] = subscription("GPA.1", "EXPIRED", from: at(0), to: at(1))
        let again = subscription("GPA.2..0", from: at(2), to: at(26))
        answers["new"] = again.with(
            "outOfAppPurchaseContext", ["expiredPurchaseToken": "old"])
        #expect(shop.submit(["new"]).status == 200)
        // After the app acknowledges the purchase, Google no longer names the expired one.
        answers["new"] = again
        shop.service.clock.advance(byMilliseconds: 25 * Self.hour)
        #expect(try end(of: shop) == nil)
        answers["new"] = subscription("GPA.2..1", from: at(2), to: at(50))
        let night = try night(shop)
        #expect(night.isSound && night.steps[.subscriptions]?.mended == 1, "\(night.errors)")
        #expect(try end(of: shop) == at(50).text)
    }

    @Test(
        "A token submitted after its period's end, just before Google renews it, is asked about again"
    )
    func between() throws {
        let answers = SharedAnswers()
        let store = try store(answers)
        let shop = try PlayShopfront(store.url, onOneClock: true)
        let start = shop.service.clock.now
        func at(_ hours: Int64) -> Instant { start.advanced(byMilliseconds: hours * Self.hour) }
        shop.service.clock.advance(byMilliseconds: Self.hour)
        answers["t"] = subscription("GPA.1..0", from: at(0), to: at(1))
        #expect(shop.submit(["t"]).status == 200)
        #expect(try end(of: shop) == nil)
        answers["t"] = subscription("GPA.1..1", from: at(0), to: at(25))
        shop.service.clock.advance(byMilliseconds: Self.hour)
        let night = try night(shop)
        #expect(night.isSound && night.steps[.subscriptions]?.mended == 1, "\(night.errors)")
        #expect(try end(of: shop) == at(25).text)
    }

    @Test(
        "A subscription about which Google only repeats itself rests, until something is due or learnt"
    )
    func rests() throws {
        let path =
            "/androidpublisher/v3/applications/com.example.game/purchases/subscriptionsv2/tokens/t"
        let answers = SharedAnswers()
        let store = try store(answers)
        let shop = try PlayShopfront(store.url, onOneClock: true)
        let start = shop.service.clock.now
        func at(_ days: Int64) -> Instant { start.advanced(byMilliseconds: days * 24 * Self.hour) }
        func wait(days: Int64) { shop.service.clock.advance(byMilliseconds: days * 24 * Self.hour) }
        answers["t"] = subscription("GPA.1..0", from: at(0), to: at(365))
        #expect(shop.submit(["t"]).status == 200)
        // The days to wait before each night, and the total number of questions after it.
        for (days, count) in [(29, 1), (2, 2), (1, 2), (1, 2), (28, 3), (1, 3), (288, 4)] {
            wait(days: Int64(days))
            let night = try night(shop)
            #expect(night.isSound, "\(night.errors)")
            #expect(!night.notes.contains { $0.contains("said nothing") }, "\(night.notes)")
            #expect(store.count(path) == count)
        }
        // The subscription ends before Deed would ask again, so Deed asks at its end.
        answers["t"] = subscription("GPA.1..1", from: at(0), to: at(730))
        wait(days: 16)
        #expect(try night(shop).steps[.subscriptions]?.mended == 1)
        #expect(try end(of: shop) == at(730).text)
        // A month passes without news. Then the app submits a shorter plan that replaced this one.
        wait(days: 31)
        _ = try night(shop)
        let shorter = subscription("GPA.2..0", from: at(397), to: at(404))
        answers["t2"] = shorter.with("linkedPurchaseToken", "t")
        #expect(shop.submit(["t2"]).status == 200)
        let renewed = subscription("GPA.2..1", from: at(397), to: at(411))
        answers["t2"] = renewed.with("linkedPurchaseToken", "t")
        wait(days: 8)
        #expect(try night(shop).steps[.subscriptions]?.mended == 1)
        #expect(try end(of: shop) == at(411).text)
    }
}
