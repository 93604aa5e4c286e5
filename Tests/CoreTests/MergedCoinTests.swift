import Core
import Histories
import Testing

/// Tests which coins an undo gives back.
extension MergeTests {
    enum Act: Sendable {
        case spend(Int64)
        case adjust(Int64)
        case earn(Int64)
        case buy
        /// The store takes back the coins that the merge brought.
        case refund
        /// The store cancels that refund.
        case reverse
    }

    struct ShareCase: Sendable, CustomTestStringConvertible {
        let words: String
        var own: Int64 = 0
        /// How many more purchases of 100 coins the merge brought.
        var alsoCame = 0
        let acts: [Act]
        /// How many coins an admin must add before the undo; `nil` if none.
        var missing: Int64?
        /// The coins that the first customer has after the undo.
        var back: Int64 = 100
        let left: Int64

        var testDescription: String { words }
    }

    private static let earned: [CurrencyID: CreditLimit] = [
        id("coins"): CreditLimit(perCall: 1000, perDay: 1000)
    ]

    private func take(_ act: Act, _ number: Int, in world: inout World) throws {
        switch act {
        case .spend(let amount): try world.spend(amount, of: ben)
        case .adjust(let amount): try world.adjust(amount, of: ben)
        case .earn(let amount):
            let wish = AdjustBalance(
                currency: id("coins"), amount: amount, reason: id("a quest"), ticket: nil)
            world.apply(
                try world.customer(ben).decide(
                    earning: wish, within: Self.earned, now: world.now),
                to: ben)
        case .buy:
            let bought = transaction("own\(number)", "coins", .consumable, at(2))
            try world.submit([facts([bought])], by: .customer(ben))
        case .refund:
            var refunded = coins
            refunded.revocation = refund(at: at(3))
            refunded.signedAt = at(3)
            try world.submit([facts([refunded])], by: .store)
        case .reverse:
            var reversed = coins
            reversed.signedAt = at(4)
            try world.submit([facts([reversed])], by: .store)
        }
    }

    @Test(
        "An undo takes no coins that did not come, and names how many to give first where some are gone",
        arguments: [
            ShareCase(words: "nothing happened", acts: [], left: 0),
            ShareCase(words: "bought since", acts: [.buy], left: 100),
            ShareCase(words: "spent what was bought", acts: [.buy, .spend(100)], left: 0),
            ShareCase(
                words: "bought after spending what came", acts: [.spend(60), .buy], missing: 60,
                left: 100),
            ShareCase(
                words: "spent all, then bought", acts: [.spend(100), .buy], missing: 100,
                left: 100),
            ShareCase(
                words: "bought and spent again", acts: [.spend(60), .buy, .spend(120)],
                missing: 80, left: 0),
            ShareCase(
                words: "earned after spending what came", acts: [.spend(60), .earn(70)],
                missing: 60, left: 70),
            ShareCase(
                words: "an admin took some", acts: [.adjust(-30), .buy], missing: 30, left: 100),
            ShareCase(words: "own ones first", own: 60, acts: [.spend(60), .buy], left: 100),
            ShareCase(
                words: "own ones, then some that came", own: 60, acts: [.spend(70), .buy],
                missing: 10, left: 100),
            ShareCase(
                words: "an admin gave back a part", acts: [.spend(60), .adjust(20), .buy],
                missing: 40, left: 100),
            ShareCase(words: "an admin gave all", acts: [.spend(60), .adjust(60)], left: 0),
            ShareCase(words: "a refund took what came", acts: [.refund, .buy], back: 0, left: 100),
            ShareCase(
                words: "spent, and then refunded", acts: [.spend(60), .refund], back: 0, left: -60),
            ShareCase(
                words: "spent two purchases, of which one is refunded", alsoCame: 1,
                acts: [.spend(200), .refund], missing: 100, left: -100),
            ShareCase(
                words: "the same, and the refund is reversed", alsoCame: 1,
                acts: [.spend(200), .refund, .reverse], missing: 200, back: 200, left: 0),
            ShareCase(
                words: "debts of the other one", own: -30, acts: [.spend(10), .buy], missing: 10,
                left: 70),
        ])
    func shares(row: ShareCase) throws {
        var world = try bought()
        if row.own != 0 { try world.adjust(row.own, of: ben) }
        for number in 0..<row.alsoCame {
            let more = transaction("more\(number)", "coins", .consumable, at(1))
            try world.submit([facts([more])], by: .customer(anon))
        }
        try world.merge(anon, into: ben)
        for (number, act) in row.acts.enumerated() { try take(act, number, in: &world) }
        if let missing = row.missing {
            let count = world.events.count
            do {
                try world.undoMerge(of: anon)
                Issue.record("the undo took what it may not take")
            } catch {
                guard case .merge(let refusal) = error else { throw error }
                #expect(refusal.code == "merge_spent")
                #expect(refusal.sentence.contains("\(missing) of \"coins\""), "\(refusal.sentence)")
            }
            #expect(world.events.count == count)
            try world.adjust(missing - 1, of: ben, unlessZero: true)
            #expect(throws: Refusal.self) { try world.undoMerge(of: anon) }
            try world.adjust(1, of: ben)
        }
        try world.undoMerge(of: anon)
        #expect(world.customer(anon).balance("coins") == row.back)
        #expect(world.customer(ben).balance("coins") == row.left)
    }

    @Test(
        "Of two who came, the first to go gets its coins, and the other gets the coins of an admin"
    )
    func bothOrders() throws {
        for (first, last) in [(anon, cleo), (cleo, anon)] {
            var world = World()
            try world.adjust(50, of: anon)
            try world.adjust(50, of: cleo)
            try world.merge(anon, into: ben)
            try world.merge(cleo, into: ben)
            try world.spend(30, of: ben)
            try world.submit([facts([coins])], by: .customer(ben))
            try world.undoMerge(of: first)
            #expect(world.customer(first).balance("coins") == 50)
            #expect(throws: Refusal.self) { try world.undoMerge(of: last) }
            try world.adjust(30, of: ben)
            try world.undoMerge(of: last)
            #expect(world.customer(last).balance("coins") == 50)
            #expect(world.customer(ben).balance("coins") == 100)
        }
    }

    @Test("Coins of a customer who came after others were spent are that customer's")
    func cameLater() throws {
        var world = World()
        try world.adjust(50, of: anon)
        try world.adjust(50, of: cleo)
        try world.merge(anon, into: ben)
        try world.spend(50, of: ben)
        try world.merge(cleo, into: ben)
        #expect(throws: Refusal.self) { try world.undoMerge(of: anon) }
        try world.undoMerge(of: cleo)
        #expect(world.customer(cleo).balance("coins") == 50)
        try world.adjust(50, of: ben)
        try world.undoMerge(of: anon)
        #expect(world.customer(anon).balance("coins") == 50)
        #expect(world.customer(ben).balance("coins") == 0)
    }

    @Test("What was spent before a chain grew is still missing when it is undone")
    func chainsOfCoins() throws {
        var world = try bought()
        try world.merge(anon, into: ben)
        try world.spend(60, of: ben)
        try world.merge(ben, into: cleo)
        try world.submit(
            [facts([transaction("c2", "coins", .consumable, at(2))])], by: .customer(cleo))
        try world.undoMerge(of: ben)
        #expect(world.customer(ben).balance("coins") == 40)
        #expect(world.customer(cleo).balance("coins") == 100)
        #expect(throws: Refusal.self) { try world.undoMerge(of: anon) }
        try world.adjust(60, of: ben)
        try world.undoMerge(of: anon)
        #expect(world.customer(anon).balance("coins") == 100)
        #expect(world.customer(ben).balance("coins") == 0)
    }

    @Test("What the store took back or gave while a chain held is not spent after its end")
    func chainsOfRefunds() throws {
        var world = try bought()
        try world.merge(anon, into: ben)
        try world.merge(ben, into: cleo)
        try take(.refund, 0, in: &world)
        #expect(world.customer(cleo).balance("coins") == 0)
        try world.undoMerge(of: ben)
        try world.adjust(5, of: ben)
        try world.spend(5, of: ben)
        try world.submit(
            [facts([transaction("c2", "coins", .consumable, at(2))])], by: .customer(ben))
        try world.undoMerge(of: anon)
        #expect(world.customer(anon).balance("coins") == 0)
        #expect(world.customer(ben).balance("coins") == 100)
    }
}

extension World {
    fileprivate mutating func adjust(
        _ amount: Int64, of customer: CustomerID, unlessZero: Bool
    ) throws(Refusal) {
        if amount != 0 { try adjust(amount, of: customer) }
    }
}
