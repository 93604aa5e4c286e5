import Core
import JSON
import Minting
import Service
import TestSupport
import Testing

/// Tests news of a subscription that became part of a bundle, if the news arrives before the
/// subscription has a customer.
@Suite("Purchases that continue others")
struct ContinuingTests {
    private let front: Storefront

    init() throws {
        front = try Storefront()
    }

    private var month: Sale {
        Sale("1", "pro.month", .autoRenewable, at: front.daysAgo(30), until: front.daysAgo(0))
    }

    private func bundled(_ transaction: String = "9") -> Sale {
        var sale = Sale(
            transaction, "pro.month", .autoRenewable, at: front.daysAgo(0),
            until: front.daysAgo(-30))
        sale.original = "9"
        sale.previous = "1"
        return sale
    }

    private func notify(_ sale: Sale, id: String) {
        let sent = front.store.notification(
            "SUBSCRIBED", id: id, at: front.daysAgo(0), transaction: front.store.transaction(sale))
        #expect(front.notify(sent).status == 200)
    }

    private func reconcile(isRehearsal: Bool = false) throws -> StepCounts {
        var wish = ReconcileWish(project: try ProjectID("default"))
        wish.plan = ReconcilePlan(steps: [.unclaimed])
        wish.isRehearsal = isRehearsal
        let finished = try front.service.reconcile(wish)
        #expect(finished.errors.isEmpty, "\(finished.errors)")
        return try #require(finished.steps[.unclaimed])
    }

    private func held() throws -> Int64 {
        try front.service.database.number(
            "select count(*) from deed.holders where customer = 'u1'")
    }

    @Test("A night gives them to the customer who holds the earlier one by then, once")
    func night() throws {
        notify(bundled(), id: "n1")
        #expect(try reconcile() == StepCounts(lookedAt: 1))
        #expect(try front.submit(month).outcomes == ["recorded"])
        #expect(try held() == 1)
        #expect(try reconcile(isRehearsal: true) == StepCounts(lookedAt: 1, found: 1))
        #expect(try held() == 1)
        #expect(try reconcile() == StepCounts(lookedAt: 1, found: 1, mended: 1))
        #expect(try held() == 2)
        #expect(try front.isActive("pro") == true)
        #expect(try front.events().filter { $0 == "purchase.attached" }.count == 1)
        let events = try front.service.eventCount()
        #expect(try reconcile() == StepCounts())
        #expect(try front.service.eventCount() == events + 2)
    }

    @Test("While no customer holds the earlier one, they wait")
    func waiting() throws {
        notify(bundled(), id: "n1")
        notify(month, id: "n2")
        #expect(try reconcile() == StepCounts(lookedAt: 2))
        #expect(
            try front.service.database.number(
                "select count(*) from deed.holders where starts_with(customer, '$unclaimed/')") == 2
        )
    }

    @Test("A forged row of the earlier one's holder moves nothing")
    func forged() throws {
        notify(bundled(), id: "n1")
        try front.service.database.run(
            """
            insert into deed.holders values
                ('default', 'apple', 'production', '\(Payload.bundleID)', '1', 'thief')
            """)
        var wish = ReconcileWish(project: try ProjectID("default"))
        wish.plan = ReconcilePlan(steps: [.unclaimed])
        let finished = try front.service.reconcile(wish)
        #expect(finished.steps[.unclaimed]?.mended == 0)
        #expect(
            try front.service.database.number(
                "select count(*) from deed.holders where original = '9' and customer = 'thief'")
                == 0)
        #expect(try front.events(of: "thief") == [])
    }
}
