import Core
import JSON
import Practice
import Testing

@Suite("A subscription in the practice store's Google Play")
struct PlayCourseTests {
    @Test("passes through the phases of its offer, with an order for each payment")
    func phases() throws {
        var life = try PlayedLife()
        let token = try life.own("pro:monthly") { $0.offer = "first-months" }
        func phase() -> JSON? { life.items(token)[0]["offerPhase"] }
        let first = try #require(life.items(token)[0]["latestSuccessfulOrderId"]?.string)
        #expect(phase() == ["freeTrial": [:]])
        #expect(life.order(first)?.id.hasPrefix("GPA.") == true)
        #expect(life.expiry(token) == opening.days(7))
        life.advance(days: 8)
        #expect(phase() == ["introductoryPrice": [:]])
        #expect(life.items(token)[0]["latestSuccessfulOrderId"] == .string("\(first)..0"))
        #expect(life.items(token)[0]["offerDetails"]?["offerId"] == "first-months")
        #expect(life.items(token)[0]["offerDetails"]?["offerTags"] == .array(["spring"]))
        life.advance(days: 95)
        #expect(phase() == ["basePrice": [:]])
        #expect(life.items(token)[0]["offerDetails"]?["offerId"] == nil)
        #expect(
            life.items(token)[0]["autoRenewingPlan"]?["recurringPrice"]
                == ["currencyCode": "USD", "units": "9", "nanos": 990_000_000])
        #expect(life.state(token) == "ACTIVE")
        #expect(life.usable == ["pro"])
        #expect(life.news() == [.purchased, .renewed, .renewed, .renewed, .renewed])
    }

    @Test("without an acknowledgement is refunded after three days")
    func unacknowledged() throws {
        var life = try PlayedLife()
        let token = try life.take(.buy, "pro:monthly")
        let order = try #require(life.items(token)[0]["latestSuccessfulOrderId"]?.string)
        #expect(life.answer(token)["acknowledgementState"] == "ACKNOWLEDGEMENT_STATE_PENDING")
        life.advance(days: 2)
        #expect(life.usable == ["pro"])
        life.advance(days: 2)
        #expect(life.usable == [])
        #expect(life.state(token) == "EXPIRED")
        #expect(life.expiry(token) == opening.days(3))
        #expect(life.order(order)?.state == .refunded)
        #expect(life.world.play.voids.count == 1)
        #expect(life.news() == [.purchased, .revoked, .voided])
    }

    @Test("is tried in silence for a day, then has grace whose end moves, then is on hold")
    func failure() throws {
        var life = try PlayedLife()
        let token = try life.own("pro:monthly")
        let ends = try #require(life.expiry(token))
        _ = life.news()
        try life.take(.failBilling)
        life.advance(to: ends.advanced(byMilliseconds: 1))
        #expect(life.state(token) == "ACTIVE")
        #expect(life.expiry(token) == ends.days(1))
        #expect(life.news() == [])
        var ends2: [Instant?] = []
        for _ in 1...2 {
            life.advance(days: 1)
            #expect(life.state(token) == "IN_GRACE_PERIOD")
            #expect(life.usable == ["pro"])
            ends2.append(life.expiry(token))
        }
        #expect(ends2 == [ends.days(2), ends.days(3)])
        #expect(life.answer(token)["inGracePeriodStateContext"]?["renewalDeclined"] != nil)
        life.advance(days: 1)
        #expect(life.state(token) == "ON_HOLD")
        #expect(life.usable == [])
        #expect(life.news() == [.inGrace, .onHold])
        try life.take(.recover)
        #expect(life.state(token) == "ACTIVE")
        #expect(life.usable == ["pro"])
        #expect(life.news() == [.recovered])
    }

    @Test("that is paid in grace keeps its old dates, and one that is never paid expires")
    func recovery() throws {
        var life = try PlayedLife()
        let token = try life.own("pro:monthly")
        let ends = try #require(life.expiry(token))
        try life.take(.failBilling)
        life.advance(to: ends.days(2))
        try life.take(.fixBilling)
        #expect(life.expiry(token) == instant("2024-03-29T10:00:00Z"))
        _ = life.news()
        try life.take(.failBilling)
        life.advance(days: 80)
        #expect(life.state(token) == "EXPIRED")
        #expect(life.answer(token)["canceledStateContext"]?["systemInitiatedCancellation"] != nil)
        #expect(life.items(token)[0]["autoRenewingPlan"] == [:])
        #expect(life.news() == [.inGrace, .onHold, .canceled, .expired])
    }

    @Test("without grace still has its silent day")
    func noGrace() throws {
        var life = try PlayedLife()
        let token = try life.own("sounds:monthly")
        let ends = try #require(life.expiry(token))
        try life.take(.failBilling)
        life.advance(to: ends.advanced(byMilliseconds: 1000))
        #expect(life.usable == ["sounds"])
        life.advance(days: 1)
        #expect(life.state(token) == "ON_HOLD")
    }

    @Test("that is cancelled runs to its end, unless it is resumed")
    func cancel() throws {
        var life = try PlayedLife()
        let token = try life.own("pro:monthly")
        try life.take(.cancel)
        #expect(life.state(token) == "CANCELED")
        #expect(life.items(token)[0]["autoRenewingPlan"]?["autoRenewEnabled"] == nil)
        #expect(life.usable == ["pro"])
        try life.take(.resume)
        #expect(life.state(token) == "ACTIVE")
        #expect(life.answer(token)["canceledStateContext"] == nil)
        try life.take(.cancel)
        life.advance(days: 40)
        #expect(life.state(token) == "EXPIRED")
        #expect(
            life.answer(token)["canceledStateContext"]?["userInitiatedCancellation"]?["cancelTime"]
                != nil)
        #expect(life.usable == [])
        #expect(life.news() == [.purchased, .canceled, .restarted, .canceled, .expired])
    }

    @Test("is paused from its next payment on, and comes back under the same token")
    func pause() throws {
        var life = try PlayedLife()
        let token = try life.own("pro:monthly")
        try life.take(.pause) { $0.days = 14 }
        #expect(life.state(token) == "ACTIVE")
        life.advance(days: 30)
        #expect(life.state(token) == "PAUSED")
        #expect(life.usable == [])
        #expect(
            life.answer(token)["pausedStateContext"]?["autoResumeTime"]
                == "2024-03-14T10:00:00Z")
        life.advance(days: 14)
        #expect(life.state(token) == "ACTIVE")
        #expect(life.usable == ["pro"])
        #expect(life.news() == [.purchased, .pauseChanged, .paused, .recovered])
        try life.take(.pause)
        try life.take(.resume)
        life.advance(days: 40)
        #expect(life.state(token) == "ACTIVE")
    }

    @Test("has its next payment deferred")
    func postpone() throws {
        var life = try PlayedLife()
        let token = try life.own("pro:monthly")
        let ends = try #require(life.expiry(token))
        let tag = life.answer(token)["etag"]
        try life.take(.postpone) { $0.days = 10 }
        #expect(life.expiry(token) == ends.days(10))
        #expect(life.answer(token)["etag"] != tag)
        life.advance(to: ends.days(5))
        #expect(life.usable == ["pro"])
    }

    @Test("gets a higher price if the customer agrees or need not, and else ends")
    func price() throws {
        for (needsConsent, consents) in [(false, false), (true, true), (true, false)] {
            var life = try PlayedLife()
            let token = try life.own("pro:monthly")
            try life.take(.raisePrice, "pro:monthly") {
                $0.price = 12_000
                $0.needsConsent = needsConsent
            }
            var details: JSON? {
                life.items(token)[0]["autoRenewingPlan"]?["priceChangeDetails"]
            }
            #expect(
                details?["priceChangeState"] == (needsConsent ? "OUTSTANDING" : "CONFIRMED"))
            if consents { try life.take(.consent) }
            life.advance(days: 40)
            if needsConsent && !consents {
                #expect(life.state(token) == "EXPIRED")
            } else {
                #expect(details?["priceChangeState"] == "APPLIED")
                #expect(
                    life.items(token)[0]["autoRenewingPlan"]?["recurringPrice"]
                        == ["currencyCode": "USD", "units": "12"])
            }
        }
    }

    @Test("in instalments runs to the end of its commitment when it is cancelled")
    func instalments() throws {
        var life = try PlayedLife()
        let token = try life.own("pro:instalments")
        func details() -> JSON? { life.items(token)[0]["autoRenewingPlan"]?["installmentDetails"] }
        #expect(details()?["initialCommittedPaymentsCount"] == 12)
        #expect(details()?["remainingCommittedPaymentsCount"] == 11)
        life.advance(days: 100)
        #expect(details()?["remainingCommittedPaymentsCount"] == 8)
        _ = life.news()
        try life.take(.cancel)
        #expect(life.news() == [.cancellationScheduled])
        #expect(life.state(token) == "ACTIVE")
        #expect(details()?["pendingCancellation"] == [:])
        life.advance(to: opening.days(360))
        #expect(life.usable == ["pro"])
        _ = life.news()
        life.advance(to: opening.days(370))
        #expect(life.state(token) == "EXPIRED")
        #expect(life.news() == [.canceled, .expired])
    }

    @Test("that is refunded ends, unless the customer keeps it")
    func refund() throws {
        var life = try PlayedLife()
        let token = try life.own("pro:monthly")
        life.advance(days: 35)
        try life.take(.refund) { $0.keepAccess = true }
        #expect(life.state(token) == "ACTIVE")
        #expect(life.world.play.voids.isEmpty)
        let order = try #require(life.items(token)[0]["latestSuccessfulOrderId"]?.string)
        #expect(order.hasSuffix("..0"))
        #expect(life.order(order)?.state == .refunded)
        life.advance(days: 30)
        _ = life.news()
        try life.take(.refund)
        #expect(life.state(token) == "EXPIRED")
        #expect(life.usable == [])
        #expect(life.world.play.voids.count == 1)
        #expect(life.news() == [.revoked, .voided])
    }
}
