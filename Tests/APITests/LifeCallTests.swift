import Core
import JSON
import Minting
import TestSupport
import Testing

@Suite("Whole lives over the API")
struct LifeCallTests {
    private func advance(_ front: Storefront, days: Int64) {
        front.service.clock.advance(byMilliseconds: days * 86_400_000)
    }

    @Test("A consumable is credited once, debited by a refund and credited again by its reversal")
    func consumable() throws {
        let front = try Storefront()
        let sale = Sale("1", "coins.100", .consumable, at: front.daysAgo(0)).with {
            $0.quantity = 3
        }
        _ = front.submit(sale)
        _ = front.submit(sale, restore: true)
        _ = front.notify(
            front.store.notification(
                "ONE_TIME_CHARGE", id: "n1", at: front.daysAgo(0),
                transaction: front.store.transaction(sale)))
        #expect(try front.coins() == 300)
        advance(front, days: 1)
        let refunded = sale.with {
            $0.refunded = front.daysAgo(0)
            $0.signedAt = front.daysAgo(0)
        }
        let refund = front.store.notification(
            "REFUND", id: "n2", at: front.daysAgo(0),
            transaction: front.store.transaction(refunded))
        #expect(front.notify(refund).status == 200)
        #expect(try front.coins() == 0)
        advance(front, days: 1)
        let reversed = sale.with { $0.signedAt = front.daysAgo(0) }
        let reversal = front.store.notification(
            "REFUND_REVERSED", id: "n3", at: front.daysAgo(0),
            transaction: front.store.transaction(reversed))
        _ = front.notify(reversal)
        _ = front.notify(reversal)
        _ = front.notify(refund)
        #expect(try front.coins() == 300)
        #expect(
            try front.events() == [
                "purchase.made", "balance.credited", "purchase.restated", "purchase.refunded",
                "balance.debited", "refund.reversed", "balance.credited",
            ])
    }

    @Test("A non-consumable lasts until it is refunded, and returns if that is reversed")
    func nonConsumable() throws {
        let front = try Storefront()
        let sale = Sale("1", "level2", .nonConsumable, at: front.daysAgo(0))
        _ = front.submit(["receipt": .string(front.store.receipt([sale], at: front.daysAgo(0)))])
        let held = try front.entitlement("level2")
        #expect(held["active"]?.bool == true && held["until"]?.isNull == true)
        advance(front, days: 400)
        #expect(try front.isActive("level2") == true)
        _ = front.submit(
            sale.with {
                $0.refunded = front.daysAgo(0)
                $0.signedAt = front.daysAgo(0)
            })
        #expect(try front.isActive("level2") == false)
        advance(front, days: 1)
        // An old receipt never clears a refund, but the store's newer statement does.
        _ = front.submit(["receipt": .string(front.store.receipt([sale], at: front.daysAgo(0)))])
        #expect(try front.isActive("level2") == false)
        _ = front.submit(sale.with { $0.signedAt = front.daysAgo(0) })
        #expect(try front.isActive("level2") == true)
    }

    @Test("A non-renewing subscription lasts by the catalog, the next one follows, both restore")
    func nonRenewing() throws {
        let front = try Storefront()
        _ = front.submit(Sale("1", "season", .nonRenewing, at: front.daysAgo(0)))
        #expect(try front.entitlement("season")["until"]?.string == "2027-02-20T19:21:00.000Z")
        advance(front, days: 10)
        let reply = front.submit(Sale("2", "season", .nonRenewing, at: front.daysAgo(0)))
        #expect(try reply.outcomes == ["recorded"])
        #expect(try front.entitlement("season")["until"]?.string == "2027-05-20T19:21:00.000Z")
        let restored = front.submit(
            Sale("1", "season", .nonRenewing, at: front.daysAgo(10)), restore: true)
        #expect(try restored.outcomes == ["already_known"])
        let season = try restored.json["entitlements"]?["season"]
        #expect(season?["until"]?.string == "2027-05-20T19:21:00.000Z")
        advance(front, days: 200)
        #expect(try front.isActive("season") == false)
    }

    @Test("A subscription renews, fails, has grace, recovers, is turned off, ends and returns")
    func autoRenewable() throws {
        let front = try Storefront()
        let start = front.daysAgo(0)
        let day = { (count: Int64) in start.advanced(byMilliseconds: count * 86_400_000) }
        func period(_ name: String, _ first: Int64) -> Sale {
            Sale(name, of: "1", "pro.month", .autoRenewable, at: day(first), until: day(first + 30))
        }
        func tell(
            _ type: String, _ sale: Sale, at instant: Instant,
            _ change: (inout RenewalPlan) -> Void = { _ in }
        ) {
            var renewal = RenewalPlan(of: "1", "pro.month", signed: instant)
            change(&renewal)
            let reply = front.notify(
                front.store.notification(
                    type, id: "n-\(type)-\(instant.milliseconds)", at: instant,
                    transaction: front.store.transaction(sale.with { $0.signedAt = instant }),
                    renewal: front.store.renewal(renewal)))
            #expect(reply.status == 200, "\(type): \(reply.text)")
        }
        func expect(_ state: String, active: Bool, renews: Bool) throws {
            let answer = try front.entitlement("pro")
            #expect(answer["state"]?.string == state)
            #expect(answer["active"]?.bool == active)
            #expect(answer["will_renew"]?.bool == renews)
        }
        tell("SUBSCRIBED", period("1", 0), at: day(0))
        _ = front.submit(period("1", 0))
        try expect("active", active: true, renews: true)
        advance(front, days: 30)
        tell("DID_RENEW", period("2", 30), at: day(30))
        try expect("active", active: true, renews: true)
        advance(front, days: 30)
        tell("DID_FAIL_TO_RENEW", period("2", 30), at: day(60)) {
            $0.isInRetry = true
            $0.graceUntil = day(66)
        }
        try expect("grace", active: true, renews: true)
        advance(front, days: 3)
        tell("DID_RENEW", period("3", 63), at: day(63))
        try expect("active", active: true, renews: true)
        tell("DID_CHANGE_RENEWAL_STATUS", period("3", 63), at: day(63).advanced(byMilliseconds: 1))
        {
            $0.isOn = false
        }
        try expect("active", active: true, renews: false)
        advance(front, days: 30)
        try expect("expired", active: false, renews: false)
        tell("EXPIRED", period("3", 63), at: day(93)) { $0.isOn = false }
        try expect("expired", active: false, renews: false)
        advance(front, days: 10)
        tell("SUBSCRIBED", period("4", 103), at: day(103))
        try expect("active", active: true, renews: true)
        // All news of this purchase waited until the first submission named its holder.
        #expect(try front.events().first == "purchase.attached")
        let known = try front.send(
            "GET", "/v1/customers/u1/entitlements?at=\(day(65).text)"
        ).json
        #expect(known["entitlements"]?["pro"]?["active"]?.bool == true)
    }

    @Test(
        "A customer who installed the app before it was free keeps the benefit, in production"
    )
    func installation() throws {
        let front = try Storefront()
        let old = front.store.appTransaction(originalVersion: "1.9.9", at: front.daysAgo(0))
        #expect(try front.submit(["app_transaction": .string(old)]).outcomes == ["recorded"])
        #expect(try front.isActive("legacy") == true)
        let new = front.store.appTransaction(originalVersion: "2.0", at: front.daysAgo(0))
        _ = front.submit(["app_transaction": .string(new)], for: "u2")
        #expect(try front.isActive("legacy", for: "u2") == false)
    }
}

@Suite("Transfer policies over the API")
struct TransferCallTests {
    private func month(_ front: Storefront) -> Sale {
        Sale("1", "pro.month", .autoRenewable, at: front.daysAgo(1), until: front.daysAgo(-29))
    }

    @Test("keep: the first customer to prove it holds it, during access and afterwards")
    func keep() throws {
        let front = try Storefront()
        _ = front.submit(month(front), for: "anna")
        for days in [0, 60] as [Int64] {
            front.service.clock.advance(byMilliseconds: days * 86_400_000)
            for restore in [false, true] {
                let sale = Sale(
                    "1", "pro.month", .autoRenewable, at: front.daysAgo(1 + days),
                    until: front.daysAgo(days - 29))
                #expect(
                    try front.submit(sale, for: "ben", restore: restore).outcomes
                        == ["held_by_another"])
            }
        }
        #expect(try front.events(of: "ben") == [])
    }

    @Test("transfer_if_inactive: it moves once it no longer gives access")
    func inactive() throws {
        let front = try Storefront(settings: #"{"transfer":"transfer_if_inactive"}"#)
        let sale = month(front)
        _ = front.submit(sale, for: "anna")
        #expect(try front.submit(sale, for: "ben").outcomes == ["held_by_another"])
        front.service.clock.advance(byMilliseconds: 29 * 86_400_000)
        #expect(try front.submit(sale, for: "ben").outcomes == ["recorded"])
        // No service published the boundary, so the next write does.
        #expect(
            try front.events(of: "anna") == ["purchase.made", "access.ended", "purchase.detached"])
        #expect(try front.events(of: "ben") == ["purchase.attached"])
    }

    @Test("transfer: it moves completely at once, and then stays until it has cooled down")
    func transfer() throws {
        let front = try Storefront(settings: #"{"transfer":"transfer","cool_down":"P1D"}"#)
        let sale = month(front)
        _ = front.submit(sale, for: "anna")
        #expect(try front.submit(sale, for: "ben").outcomes == ["recorded"])
        #expect(try front.isActive("pro", for: "anna") == false)
        #expect(try front.isActive("pro", for: "ben") == true)
        let early = front.submit(sale, for: "anna")
        #expect(
            try early.json["items"]?.array?.first?["code"]?.string == "moved_recently")
        #expect(try early.outcomes == ["held_by_another"])
        front.service.clock.advance(byMilliseconds: 86_400_000)
        #expect(try front.submit(sale, for: "anna").outcomes == ["recorded"])
        #expect(try front.isActive("pro", for: "anna") == true)
        #expect(
            try front.service.database.number("select count(*) from deed.purchases") == 1)
    }

    @Test("Restoring has its own rule; consumables stay, and everything held is answered")
    func restore() throws {
        let front = try Storefront(settings: #"{"transfer":"keep","restore":"transfer"}"#)
        let coins = Sale("2", "coins.100", .consumable, at: front.daysAgo(1))
        let season = Sale("3", "season", .nonRenewing, at: front.daysAgo(1))
        _ = front.submit(month(front), coins, season, for: "anna")
        #expect(
            try front.submit(month(front), for: "ben").outcomes == ["held_by_another"])
        let receipt = front.store.receipt([month(front), coins, season], at: front.daysAgo(0))
        let reply = front.submit(["receipt": .string(receipt)], for: "ben", restore: true)
        #expect(try reply.outcomes == ["recorded", "held_by_another", "recorded"])
        #expect(try reply.json["entitlements"]?["season"]?["active"]?.bool == true)
        #expect(try reply.json["entitlements"]?["pro"]?["active"]?.bool == true)
        #expect(try reply.json["balances"]?.object?.members.isEmpty == true)
        #expect(try front.coins(of: "anna") == 100)
        let again = front.submit(coins, for: "anna", restore: true)
        #expect(try again.json["balances"]?["coins"]?.integer == 100)
    }
}
