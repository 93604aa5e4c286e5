import Core
import Histories
import Testing

@Suite("Submissions")
struct SubmissionTests {
    private let anna: CustomerID = id("anna")
    private let ben: CustomerID = id("ben")
    private let token = "6F0A4F0E-8A0E-4B43-9F5D-0D1B6C0F8A11"
    private let pro = transaction("1", "pro", .autoRenewable, at(0), to: at(30))
    private let level = transaction("2", "level2", .nonConsumable, at(0))
    private let coins = transaction("3", "coins", .consumable, at(0))

    private func tokened(_ fact: TransactionFact) -> TransactionFact {
        var fact = fact
        fact.accountToken = token
        return fact
    }

    private func results(_ outcomes: [ItemOutcome]) -> [ItemOutcome.Result] {
        outcomes.map(\.result)
    }

    @Test("Each purchase of each piece is answered separately, with its newest transaction")
    func outcomes() throws {
        var world = World()
        let renewed = transaction("4", of: "1", "pro", .autoRenewable, at(30), to: at(60))
        let items = try world.submit(
            [facts([renewed, pro, level]), facts([coins]), facts([coins])], by: .customer(anna))
        #expect(
            items == [
                ItemOutcome(
                    index: 0, purchase: purchaseID("1"), transaction: id("4"), result: .recorded),
                ItemOutcome(
                    index: 0, purchase: purchaseID("2"), transaction: id("2"), result: .recorded),
                ItemOutcome(
                    index: 1, purchase: purchaseID("3"), transaction: id("3"), result: .recorded),
                ItemOutcome(
                    index: 2, purchase: purchaseID("3"), transaction: id("3"),
                    result: .alreadyKnown),
            ])
        #expect(world.customer(anna).balance("coins") == 100)
    }

    @Test("Evidence about no purchase has one outcome, about the app")
    func noPurchase() throws {
        var world = World()
        let app = facts(apps: [installation("1.0", on: at(0))])
        for result in [ItemOutcome.Result.recorded, .alreadyKnown] {
            let items = try world.submit([app], by: .customer(anna))
            #expect(
                items == [ItemOutcome(index: 0, purchase: nil, transaction: nil, result: result)])
        }
        #expect(try results(world.submit([Facts()], by: .customer(anna))) == [.alreadyKnown])
        #expect(world.customer(anna).apps.count == 1)
    }

    /// News of a subscription that continues as part of a bundle, with a different id.
    private let bundled = transaction("9", "pro", .autoRenewable, at(30), to: at(60)) {
        $0.previousOriginal = id("1")
    }

    @Test("A purchase that continues another belongs to its holder, whoever reports it")
    func previous() throws {
        var world = World()
        try world.submit([facts([pro])], by: .customer(anna))
        #expect(try results(world.submit([facts([bundled])], by: .store)) == [.recorded])
        #expect(world.customer(anna).purchases.map(\.id.original.text) == ["1", "9"])
        let runs = world.customer(anna).runs(by: shop)[id("pro")]
        #expect(runs == [Interval(start: at(0), end: at(60))])

        var other = World()
        try other.submit([facts([pro])], by: .customer(anna))
        let told = try results(other.submit([facts([bundled])], by: .customer(ben)))
        #expect(told == [.refused(.move(.heldByAnother))])
        #expect(other.holders[purchaseID("9")] == anna)
    }

    @Test("It waits while the other one does, and comes with its next news once that is held")
    func previousLater() throws {
        var world = World()
        try world.submit([facts([bundled])], by: .store)
        #expect(world.holders[purchaseID("9")] == .unclaimed(purchaseID("9")))
        try world.submit([facts([pro])], by: .store)
        try world.submit([facts([pro])], by: .customer(anna))
        var renewed = bundled
        renewed.transaction = id("10")
        renewed.purchased = at(60)
        renewed.expires = at(90)
        try world.submit([facts([renewed])], by: .store)
        #expect(world.holders[purchaseID("9")] == anna)
        #expect(
            world.customer(anna).runs(by: shop)[id("pro")]
                == [Interval(start: at(0), end: at(90))])
    }

    @Test("A purchase's token outweighs the purchase that it continues")
    func previousAndToken() throws {
        var world = World()
        world.tokens[token.lowercased()] = ben
        try world.submit([facts([pro])], by: .customer(anna))
        try world.submit([facts([tokened(bundled)])], by: .store)
        #expect(world.holders[purchaseID("9")] == ben)
    }

    @Test("A store's news about an app belongs to no customer")
    func storeApp() throws {
        var world = World()
        let app = facts(apps: [installation("1.0", on: at(0))])
        #expect(try results(world.submit([app], by: .store)) == [.alreadyKnown])
        #expect(world.events.isEmpty)
    }

    @Test("Evidence with a customer's token is theirs, and another sender only learns of a refusal")
    func strangersToken() throws {
        var world = World()
        world.tokens[token.lowercased()] = anna
        let items = try world.submit(
            [facts([tokened(pro)]), facts([level])], by: .customer(ben))
        #expect(results(items) == [.refused(.move(.heldByAnother)), .recorded])
        #expect(world.customer(anna).purchases.map(\.id) == [purchaseID("1")])
        #expect(world.customer(ben).purchases.map(\.id) == [purchaseID("2")])
    }

    @Test("A purchase that another customer holds hides none of the others")
    func mixed() throws {
        var world = World()
        try world.submit([facts([pro])], by: .customer(anna))
        let items = try world.submit([facts([level, pro, coins])], by: .customer(ben))
        #expect(results(items) == [.recorded, .refused(.move(.heldByAnother)), .recorded])
        #expect(world.holders[purchaseID("1")] == anna)
        #expect(world.customer(ben).balance("coins") == 100)
    }

    @Test("A true fact counts for the holder, whoever sends it")
    func refundByAnother() throws {
        var world = World()
        try world.submit([facts([coins])], by: .customer(anna))
        var refunded = coins
        refunded.signedAt = at(1)
        refunded.revocation = refund(at: at(1))
        let items = try world.submit([facts([refunded])], by: .customer(ben))
        #expect(results(items) == [.refused(.move(.heldByAnother))])
        #expect(world.customer(anna).balance("coins") == 0)
        #expect(world.customer(ben).version == 0)
    }

    @Test("What the store reports before a claim waits, and moves completely")
    func unclaimed() throws {
        var world = World()
        try world.submit(
            [facts([coins]), facts([pro], renewals: [renewal(of: "1", signed: at(1), on: false)])],
            by: .store)
        #expect(world.holders[purchaseID("3")] == .unclaimed(purchaseID("3")))
        #expect(results(try world.submit([facts([coins])], by: .store)) == [.alreadyKnown])
        let items = try world.submit([facts([coins, pro])], by: .customer(anna))
        #expect(results(items) == [.recorded, .recorded])
        let state = world.customer(anna)
        #expect(state.balance("coins") == 100)
        #expect(state.purchase(purchaseID("1"))?.renewal?.willRenew == false)
        #expect(state.purchase(purchaseID("1"))?.arrival?.cause == .claimed)
        #expect(world.customer(.unclaimed(purchaseID("1"))).purchases.isEmpty)
    }

    @Test("Restoring follows its own policy, and credits nothing again")
    func restore() throws {
        var world = World(settings: ProjectSettings(transfer: .keep, restore: .transfer))
        try world.submit([facts([pro, coins])], by: .customer(anna))
        #expect(
            results(try world.submit([facts([pro])], by: .customer(ben)))
                == [.refused(.move(.heldByAnother))])
        let items = try world.submit([facts([pro, coins])], by: .restorer(ben))
        #expect(results(items) == [.recorded, .refused(.move(.heldByAnother))])
        #expect(world.customer(ben).purchases.map(\.id) == [purchaseID("1")])
        #expect(world.customer(ben).balance("coins") == 0)
        #expect(world.customer(anna).balance("coins") == 100)
        #expect(
            results(try world.submit([facts([pro])], by: .restorer(anna)))
                == [.refused(.move(.movedRecently(until: at(1))))])
    }

    @Test("Evidence for an order that support settled is answered as settled, every time")
    func settled() throws {
        var world = World()
        let opened = OrderOpened(
            order: id("o1"), token: try #require(AccountToken(token)), product: nil,
            openedAt: at(0), expires: at(7))
        let closed = OrderClosed(
            order: id("o1"), cause: .settled(id("gave"), ticket: nil), at: at(1))
        world.apply([.orderOpened(opened), .orderClosed(closed)], to: anna)
        for _ in 0..<2 {
            #expect(
                results(try world.submit([facts([tokened(coins)])], by: .customer(anna)))
                    == [.alreadySettled(id("o1"))])
        }
        #expect(world.customer(anna).balance("coins") == 0)
    }

    @Test("A named order takes the first transaction of its product since it was opened")
    func namedOrder() throws {
        var world = World()
        world.now = at(2)
        let opened = OrderOpened(
            order: id("o1"), token: try #require(AccountToken(token)), product: id("coins"),
            openedAt: at(1), expires: at(7))
        world.apply([.orderOpened(opened)], to: anna)
        let bought = { (name: String, start: Int64) in
            transaction(name, "coins", .consumable, at(start)) { $0.rank = .offlineReceipt }
        }
        let receipt = facts([bought("9", 3), bought("8", 2), bought("7", 0), level])
        try world.submit([receipt], by: .customer(anna), order: id("o1"))
        #expect(world.customer(anna).order(id("o1"))?.fulfilled?.transaction == id("8"))
        // A second submission changes nothing.
        try world.submit([facts([bought("6", 4)])], by: .customer(anna), order: id("o1"))
        #expect(world.customer(anna).order(id("o1"))?.fulfilled?.transaction == id("8"))
        #expect(throws: Refusal.order(.unknown(id("o2")))) {
            try world.submit([receipt], by: .customer(anna), order: id("o2"))
        }
        #expect(throws: Refusal.order(.unknown(id("o1")))) {
            try world.submit([receipt], by: .customer(ben), order: id("o1"))
        }
    }

    @Test("A transaction fulfils one order, and not another one that is named later")
    func oneOrder() throws {
        var world = World()
        for (name, token) in [("o1", token), ("o2", "6f0a4f0e-8a0e-4b43-9f5d-0d1b6c0f8a12")] {
            let opened = OrderOpened(
                order: id(name), token: try #require(AccountToken(token)), product: nil,
                openedAt: at(0), expires: at(7))
            world.apply([.orderOpened(opened)], to: anna)
        }
        try world.submit([facts([tokened(coins)])], by: .customer(anna), order: id("o2"))
        #expect(world.customer(anna).order(id("o1"))?.fulfilled?.transaction == id("3"))
        #expect(world.customer(anna).order(id("o2"))?.fulfilled == nil)
    }

    @Test("Only evidence that led to events is kept with them")
    func restsOn() throws {
        var world = World()
        try world.submit([facts([pro])], by: .customer(anna))
        let submission = Submission(
            [facts([pro]), facts([level]), facts([level])].enumerated().map {
                Submission.Item(index: $0 + 5, facts: $1)
            }, by: .customer(anna))
        let decision = try submission.decide(
            Situation(
                now: at(0), project: ProjectState(), states: [anna: world.customer(anna)],
                holders: [purchaseID("1"): anna]))
        #expect(decision.restsOn == [1])
        #expect(decision.items.map(\.index) == [5, 6, 7])
    }

    @Test("A receipt with thousands of purchases is decided quickly")
    func large() throws {
        var world = World()
        let count = 5000
        let receipt = facts(
            (0..<count).map { transaction("t\($0)", "coins", .consumable, at(0)) })
        let clock = ContinuousClock()
        let time = try clock.measure { try world.submit([receipt], by: .customer(anna)) }
        #expect(world.customer(anna).balance("coins") == Int64(100 * count))
        // With quadratic running time, this would take minutes in a debug build.
        #expect(time < .seconds(20))
    }
}
