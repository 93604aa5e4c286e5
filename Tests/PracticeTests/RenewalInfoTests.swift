import Core
import JSON
import Practice
import Testing

@Suite("Renewals, extensions and reports in the practice store")
struct RenewalInfoTests {
    private func store(_ product: String, offer: String? = nil) throws -> PracticeStore {
        var shop = Shop.example
        shop.app.notificationURL = "http://127.0.0.1:1/"
        let store = PractisedStore(PracticeWorld(shop, from: opening, seed: 3)).store
        _ = try store.perform(
            Step(.buy, customer: "u1", product: product).changed { $0.offer = offer })
        return store
    }

    private func renewal(_ store: PracticeStore) throws -> JSON {
        try store.read { world in
            world.payload(of: try #require(world.subscriptions(of: "u1").first))
        }
    }

    @Test("The price is that of the next product and offer")
    func price() throws {
        let pro = try store("pro.month")
        let full = try renewal(pro)["renewalPrice"]
        _ = try pro.perform(Step(.change, customer: "u1", product: "basic.month"))
        let down = try renewal(pro)
        #expect(down["autoRenewProductId"] == "basic.month" && down["renewalPrice"] != full)
        try pro.advance(to: opening.days(40))
        let sold = pro.read { $0.sales(of: "u1").last?.price }
        #expect(down["renewalPrice"]?.integer == sold)
    }

    @Test("A gap of less than sixty days does not begin a new run, and a longer one does")
    func streak() throws {
        for (gap, isSame) in [(Int64(9), true), (75, false)] {
            let store = try store("pro.month")
            let start = try renewal(store)["recentSubscriptionStartDate"]
            _ = try store.perform(Step(.cancel, customer: "u1"))
            try store.advance(to: opening.days(31 + gap))
            _ = try store.perform(Step(.buy, customer: "u1", product: "pro.month"))
            #expect((try renewal(store)["recentSubscriptionStartDate"] == start) == isSame)
        }
    }

    @Test("A mass extension reaches exactly the storefronts that it names")
    func storefronts() throws {
        let served = try ServedStore()
        _ = try served.buy("pro.month")
        func extend(_ countries: JSON) throws -> Int64? {
            let wish: JSON = [
                "extendByDays": 3, "extendReasonCode": 1, "requestIdentifier": "r",
                "productId": "pro.month", "storefrontCountryCodes": countries,
            ]
            let answer = try served.ask("POST", "/inApps/v1/subscriptions/extend/mass", wish)
            return answer.json["errorCode"]?.integer
        }
        let ends = served.store.read { $0.subscriptions(of: "u1").map(\.ends) }
        #expect(try extend([]) == 4_000_027)
        #expect(try extend(["usa"]) == 4_000_028)
        #expect(try extend(["DEU"]) == nil)
        #expect(served.store.read { $0.subscriptions(of: "u1").map(\.ends) } == ends)
        #expect(try extend(["DEU", "USA"]) == nil)
        #expect(served.store.read { $0.subscriptions(of: "u1").map(\.ends) } != ends)
        let told = try served.store.read { world in
            let posting = try #require(world.postings.last { $0.subtype == "SUMMARY" })
            return world.payload(of: posting) { _ in "" }["summary"]
        }
        #expect(told?["storefrontCountryCodes"]?.array == ["DEU", "USA"])
    }

    @Test(
        "A wished share needs a used share, except for subscriptions; app ids name no purchase"
    )
    func shares() throws {
        let served = try ServedStore()
        let coins = try served.buy("coins.100").transaction ?? ""
        let month = try served.buy("pro.month").transaction ?? ""
        func tell(_ id: String, _ percent: Int64?) throws -> Int {
            let usual: JSON = [
                "customerConsented": true, "sampleContentProvided": false,
                "deliveryStatus": "DELIVERED", "refundPreference": "GRANT_PRORATED",
            ]
            var wish = usual.object ?? JSONObject()
            if let percent { wish.append("consumptionPercentage", .integer(percent)) }
            let target = "/inApps/v2/transactions/consumption/\(id)"
            return try served.ask("PUT", target, .object(wish)).status
        }
        #expect(try tell(coins, 40_000) == 202 && tell(month, nil) == 202)
        #expect(try tell(coins, nil) == 400 && tell(coins, 0) == 400)
        #expect(try tell(month, 40_000) == 400)
        let account = served.store.read { world in
            world.appPayload(of: "u1")["appTransactionId"]?.string ?? ""
        }
        let answer = try served.ask("GET", "/inApps/v1/transactions/\(account)")
        #expect(answer.json["errorCode"] == 4_000_048)
    }
}
