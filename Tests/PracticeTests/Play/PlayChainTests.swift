import Core
import JSON
import Practice
import Testing

@Suite("Tokens that continue others in the practice store's Google Play")
struct PlayChainTests {
    @Test("A change at once has a new token, and the rest of the old period buys time")
    func changeNow() throws {
        var life = try PlayedLife()
        let old = try life.own("pro:monthly") {
            $0.token = "6f0a4f0e-8a0e-4b43-9f5d-0d1b6c0f8a11"
        }
        life.advance(days: 10)
        let new = try life.take(.change, "premium:monthly")
        #expect(life.answer(new)["linkedPurchaseToken"] == .string(old))
        #expect(
            life.answer(new)["externalAccountIdentifiers"]?["obfuscatedExternalAccountId"]
                == "6f0a4f0e-8a0e-4b43-9f5d-0d1b6c0f8a11")
        #expect(life.items(new)[0]["offerPhase"]?["prorationPeriod"] != nil)
        #expect(life.items(new)[0]["itemReplacement"]?["replacementMode"] == "WITH_TIME_PRORATION")
        // The money left for nineteen days at 9.99 pays for almost thirteen days at 14.99.
        let end = try #require(life.expiry(new))
        #expect(end > opening.days(22) && end < opening.days(23))
        #expect(life.state(old) == "EXPIRED")
        #expect(life.answer(old)["canceledStateContext"]?["replacementCancellation"] != nil)
        #expect(life.usable == ["premium"])
        try life.acknowledge(new)
        life.advance(days: 40)
        #expect(life.state(new) == "ACTIVE")
        #expect(life.items(new)[0]["offerPhase"] == ["basePrice": [:]])
    }

    @Test("A replaced token may answer as active until its period ends, though it gives nothing")
    func lingering() throws {
        var life = try PlayedLife { $0.oldTokensLinger = true }
        let old = try life.own("pro:monthly")
        let new = try life.take(.change, "premium:monthly")
        try life.acknowledge(new)
        #expect(life.state(old) == "ACTIVE")
        #expect(life.expiry(old).map { $0 > life.world.now } == true)
        #expect(life.usable == ["premium"])
        life.advance(days: 40)
        #expect(life.state(old) == "EXPIRED")
    }

    @Test("A deferred change has both products at once, of which one is not owned yet")
    func deferred() throws {
        var life = try PlayedLife()
        let old = try life.own("pro:monthly")
        let new = try life.take(.change, "premium:monthly") { $0.when = .deferred }
        try life.acknowledge(new)
        #expect(life.answer(new)["linkedPurchaseToken"] == .string(old))
        let items = life.items(new)
        #expect(items.map { $0["productId"] } == ["pro", "premium"])
        #expect(items[0]["deferredItemReplacement"] == ["productId": "premium"])
        #expect(items[0]["autoRenewingPlan"]?["autoRenewEnabled"] == nil)
        #expect(items[1]["latestSuccessfulOrderId"] == nil)
        #expect(items[1]["autoRenewingPlan"]?["autoRenewEnabled"] == true)
        #expect(life.usable == ["pro"])
        life.advance(days: 40)
        #expect(life.items(new).map { $0["productId"] } == ["premium"])
        #expect(life.items(new)[0]["latestSuccessfulOrderId"] != nil)
        #expect(life.usable == ["premium"])
    }

    @Test("A top-up adds its time, and one without an acknowledgement takes all of it")
    func topUp() throws {
        var life = try PlayedLife()
        let first = try life.own("pro:prepaid-month")
        #expect(life.items(first)[0]["prepaidPlan"]?["allowExtendAfterTime"] != nil)
        let second = try life.take(.topUp)
        try life.acknowledge(second)
        #expect(life.answer(second)["linkedPurchaseToken"] == .string(first))
        #expect(life.expiry(second) == instant("2024-03-29T10:00:00Z"))
        #expect(life.state(second) == "ACTIVE")
        let third = try life.take(.topUp)
        life.advance(days: 2)
        #expect(life.usable == ["pro"])
        life.advance(days: 2)
        #expect(life.usable == [])
        #expect(life.state(third) == "EXPIRED")
    }

    @Test("An add-on has the others' end, ends alone, and can be refunded alone")
    func addOn() throws {
        var life = try PlayedLife()
        let old = try life.own("pro:monthly")
        life.advance(days: 10)
        let new = try life.take(.addOn, "sounds:monthly")
        try life.acknowledge(new)
        #expect(life.answer(new)["linkedPurchaseToken"] == .string(old))
        #expect(life.usable == ["pro", "sounds"])
        #expect(life.expiry(new, 0) == life.expiry(new, 1))
        life.advance(days: 30)
        #expect(life.usable == ["pro", "sounds"])
        try life.take(.cancel, "sounds")
        #expect(life.items(new)[1]["deferredItemRemoval"] == [:])
        #expect(life.state(new) == "ACTIVE")
        #expect(life.usable == ["pro", "sounds"])
        life.advance(days: 30)
        #expect(life.items(new).count == 1)
        let again = try life.take(.addOn, "sounds:monthly")
        try life.acknowledge(again)
        try life.take(.refund, "sounds")
        #expect(life.usable == ["pro"])
        #expect(life.state(again) == "ACTIVE")
    }

    @Test("A purchase waits for its payment, and a change that is not paid leaves the old alive")
    func pending() throws {
        var life = try PlayedLife()
        let token = try life.take(.buy, "pro:monthly") { $0.pending = true }
        #expect(life.state(token) == "PENDING")
        #expect(life.answer(token)["startTime"] == nil)
        #expect(life.items(token)[0]["latestSuccessfulOrderId"] == nil)
        #expect(life.usable == [])
        #expect(life.news() == [])
        life.advance(days: 5)
        try life.take(.approve)
        #expect(life.state(token) == "ACTIVE")
        try life.acknowledge(token)
        let change = try life.take(.change, "premium:monthly") { $0.pending = true }
        #expect(life.usable == ["pro"])
        try life.take(.decline)
        #expect(life.state(change) == "PENDING_PURCHASE_CANCELED")
        #expect(life.answer(change)["linkedPurchaseToken"] == .string(token))
        #expect(life.state(token) == "ACTIVE")
        #expect(life.usable == ["pro"])
        #expect(life.news() == [.purchased, .pendingCanceled])
    }

    @Test(
        "Who comes back in time continues, and who comes back in Play's screens is named until then"
    )
    func resubscribe() throws {
        var life = try PlayedLife()
        let first = try life.own("pro:monthly") {
            $0.token = "6f0a4f0e-8a0e-4b43-9f5d-0d1b6c0f8a11"
        }
        try life.take(.cancel)
        let second = try life.take(.resubscribe)
        try life.acknowledge(second)
        #expect(life.answer(second)["linkedPurchaseToken"] == .string(first))
        #expect(life.expiry(second) == instant("2024-03-29T10:00:00Z"))
        try life.take(.cancel)
        life.advance(days: 70)
        let third = try life.take(.resubscribe) { $0.inStore = true }
        #expect(life.answer(third)["linkedPurchaseToken"] == nil)
        #expect(life.answer(third)["externalAccountIdentifiers"] == nil)
        let context = life.answer(third)["outOfAppPurchaseContext"]
        #expect(context?["expiredPurchaseToken"] == .string(second))
        #expect(
            context?["expiredExternalAccountIdentifiers"]?["obfuscatedExternalAccountId"]
                == "6f0a4f0e-8a0e-4b43-9f5d-0d1b6c0f8a11")
        try life.acknowledge(third)
        #expect(life.answer(third)["outOfAppPurchaseContext"] == nil)
    }
}
