import Core
import Histories
import Testing

extension MergeTests {
    private func block(
        _ world: inout World, _ purchase: String, of customer: CustomerID, isToHold: Bool = true
    ) throws {
        let wish = BlockPurchase(
            purchaseID(purchase), isToHold: isToHold, reason: id("stolen card"), ticket: nil)
        world.apply(
            try world.customer(customer).decide(wish, by: shop, now: world.now), to: customer)
    }

    private func isPro(_ world: World, _ customer: CustomerID, _ instant: Instant) -> Bool {
        world.customer(customer).entitlements(at: instant, catalog: shop)[id("pro")]?.isActive
            ?? false
    }

    @Test("A block goes along, is taken back with the other customer, and its coins go back")
    func blockedBefore() throws {
        var world = try bought()
        world.now = at(5)
        try block(&world, "c1", of: anon)
        try block(&world, "p1", of: anon)
        try world.merge(anon, into: ben)
        #expect(world.customer(ben).balance("coins") == 0 && !isPro(world, ben, at(6)))
        world.now = at(7)
        try block(&world, "c1", of: ben, isToHold: false)
        try block(&world, "p1", of: ben, isToHold: false)
        #expect(world.customer(ben).balance("coins") == 100 && isPro(world, ben, at(7)))
        try world.undoMerge(of: anon)
        #expect(world.customer(anon).balance("coins") == 100 && isPro(world, anon, at(7)))
        #expect(!isPro(world, anon, at(6)))
        #expect(world.customer(ben).balance("coins") == 0)
    }

    @Test("A block after the merge goes back with the purchase, and is taken back there")
    func blockedBetween() throws {
        var world = try bought()
        try world.merge(anon, into: ben)
        world.now = at(5)
        try block(&world, "c1", of: ben)
        try block(&world, "p1", of: ben)
        try world.undoMerge(of: anon)
        #expect(world.customer(anon).balance("coins") == 0 && !isPro(world, anon, at(6)))
        try block(&world, "c1", of: anon, isToHold: false)
        try block(&world, "p1", of: anon, isToHold: false)
        #expect(world.customer(anon).balance("coins") == 100 && isPro(world, anon, at(6)))
    }

    /// A case in which two apps of a project may know a purchase by the same id.
    struct BothCase: Sendable, CustomTestStringConvertible {
        let words: String
        /// When each side was blocked, and until when.
        let first: [(Int64, Int64?)]
        let other: [(Int64, Int64?)]
        let blocks: [Interval]

        var testDescription: String { words }
    }

    @Test(
        "Of a purchase that both had, the blocks of both hold, and one unblock ends them",
        arguments: [
            BothCase(words: "the first", first: [(5, nil)], other: [], blocks: [from(5)]),
            BothCase(words: "the other", first: [], other: [(5, nil)], blocks: [from(5)]),
            BothCase(words: "both", first: [(6, nil)], other: [(5, nil)], blocks: [from(5)]),
            BothCase(
                words: "an earlier one of the first", first: [(1, 2)], other: [(5, nil)],
                blocks: [Interval(start: at(1), end: at(2)), from(5)]),
            BothCase(
                words: "an earlier one of the other", first: [(5, nil)], other: [(1, 2)],
                blocks: [Interval(start: at(1), end: at(2)), from(5)]),
            BothCase(
                words: "they overlap", first: [(1, 4)], other: [(3, 6)],
                blocks: [Interval(start: at(1), end: at(6))]),
            BothCase(
                words: "one is within the other", first: [(2, 3)], other: [(1, nil)],
                blocks: [from(1)]),
        ])
    func blockedBoth(row: BothCase) throws {
        var world = World()
        func have(
            _ customer: CustomerID, _ bought: TransactionFact, _ blocks: [(Int64, Int64?)]
        ) throws {
            let credit = BalanceCredited(
                currency: id("coins"), amount: 100, purchase: bought.purchase,
                transaction: bought.transaction, perPiece: 100)
            world.apply([.purchaseMade(bought), .balanceCredited(credit)], to: customer)
            for (since, until) in blocks {
                world.now = at(since)
                try block(&world, "x", of: customer)
                if let until {
                    world.now = at(until)
                    try block(&world, "x", of: customer, isToHold: false)
                }
            }
        }
        try have(anon, transaction("x", "coins", .consumable, at(0)), row.first)
        try have(ben, transaction("y", of: "x", "coins", .consumable, at(0)), row.other)
        world.now = at(10)
        try world.merge(anon, into: ben)
        let whole = try #require(world.customer(ben).purchase(purchaseID("x")))
        #expect(whole.blocks.map { Interval(start: $0.since, end: $0.until) } == row.blocks)
        let isBlocked = row.blocks.last?.end == nil
        #expect((whole.block != nil) == isBlocked)
        #expect(world.customer(ben).balance("coins") == (isBlocked ? 0 : 200))
        if !isBlocked { return }
        try block(&world, "x", of: ben, isToHold: false)
        let free = try #require(world.customer(ben).purchase(purchaseID("x")))
        #expect(free.block == nil && free.blocks.allSatisfy { $0.until != nil })
        #expect(world.customer(ben).balance("coins") == 200)
    }
}

private func from(_ day: Int64) -> Interval { Interval(start: at(day), end: nil) }
