import Core
import Histories
import Testing

/// Tests merges of two ids of one player. Days count from 1 January 2026.
@Suite("Merging customers")
struct MergeTests {
    let anon: CustomerID = id("anon")
    let ben: CustomerID = id("ben")
    let cleo: CustomerID = id("cleo")
    let pro = transaction("p1", "pro", .autoRenewable, at(0), to: at(30))
    let coins = transaction("c1", "coins", .consumable, at(1))

    func token(_ number: UInt8) -> AccountToken {
        AccountToken(random: [UInt8](repeating: number, count: 16))
    }

    /// Returns a world with a customer who has a subscription, 100 coins, a grant, a token and an open order.
    func bought() throws -> World {
        var world = World()
        try world.submit([facts([pro]), facts([coins])], by: .customer(anon))
        world.give("g_1", "level2", to: anon, days: 10)
        try world.register(token(1).text, for: anon)
        world.open("o-1", token(2), for: anon)
        return world
    }

    @Test("All that a customer has goes along, and nothing is left behind")
    func allGoes() throws {
        var world = try bought()
        let before = world.customer(anon)
        try world.merge(anon, into: ben)
        let (gone, whole) = (world.customer(anon), world.customer(ben))
        #expect(gone.mergedInto == ben && whole.mergedInto == nil)
        #expect(gone.purchases.isEmpty && gone.grants.isEmpty && gone.orders.isEmpty)
        #expect(gone.tokens.isEmpty && gone.balances.currencies.isEmpty)
        #expect(gone.entitlements(at: at(5), catalog: shop).all.isEmpty)
        #expect(
            whole.entitlements(at: at(5), catalog: shop)
                == before.entitlements(at: at(5), catalog: shop))
        #expect(whole.balance("coins") == 100 && whole.grants == before.grants)
        #expect(whole.orders == before.orders && whole.tokens == before.tokens)
        #expect(whole.purchases == before.purchases)
        #expect(world.holders.values.allSatisfy { $0 == ben })
    }

    @Test("Each stream says what left and what came, and in this order")
    func events() throws {
        var world = try bought()
        let count = world.events.count
        try world.merge(anon, into: ben)
        let told = world.events[count...].map { "\($0.customer) \($0.event.type.name)" }
        #expect(
            told == [
                "anon customer.merged", "anon purchase.detached", "anon purchase.detached",
                "ben customer.joined", "ben purchase.attached", "ben purchase.attached",
            ])
        guard case .customerMerged(let merged) = world.events[count].event else {
            Issue.record("\(world.events[count])")
            return
        }
        #expect(merged.into == ben && merged.left.grants == [id("g_1")])
        #expect(merged.left.orders == [id("o-1")])
        #expect(Set(merged.left.tokens) == [token(1), token(2)])
        #expect(merged.left.balances == [id("coins"): 100])
    }

    @Test("The sum of a balance stays, also of one below zero, and a credit never counts twice")
    func sums() throws {
        var world = try bought()
        try world.spend(70, of: anon)
        try world.adjust(5, of: ben)
        try world.merge(anon, into: ben)
        #expect(world.customer(ben).balance("coins") == 35)
        // The same purchase arrives again, followed by its refund.
        try world.submit([facts([coins])], by: .customer(ben))
        #expect(world.customer(ben).balance("coins") == 35)
        var refunded = coins
        refunded.revocation = refund(at: at(3))
        refunded.signedAt = at(3)
        try world.submit([facts([refunded])], by: .store)
        #expect(world.customer(ben).balance("coins") == -65)
        // A merge also moves debts.
        var indebted = try bought()
        try indebted.spend(70, of: anon)
        try indebted.submit([facts([refunded])], by: .store)
        #expect(indebted.customer(anon).balance("coins") == -70)
        try indebted.adjust(100, of: ben)
        try indebted.merge(anon, into: ben)
        #expect(indebted.customer(ben).balance("coins") == 30)
        try indebted.undoMerge(of: anon)
        #expect(indebted.customer(anon).balance("coins") == -70)
        #expect(indebted.customer(ben).balance("coins") == 100)
    }

    @Test("Later news, tokens and orders of the first customer reach the other one")
    func later() throws {
        var world = try bought()
        try world.merge(anon, into: ben)
        // Years later, a purchase has this token for the first time.
        world.now = at(800)
        let later = transaction("p9", "level3", .nonConsumable, at(800)) {
            $0.accountToken = token(1).text
        }
        try world.submit([facts([later])], by: .store)
        #expect(world.holders[purchaseID("p9")] == ben)
        let ordered = transaction("c9", "coins", .consumable, at(801)) {
            $0.accountToken = token(2).text
        }
        try world.submit([facts([ordered])], by: .store)
        #expect(world.customer(ben).order(id("o-1"))?.fulfilled?.purchase == purchaseID("c9"))
        #expect(world.customer(ben).balance("coins") == 200)
        let renewed = transaction("p2", of: "p1", "pro", .autoRenewable, at(30), to: at(900))
        try world.submit([facts([renewed])], by: .store)
        #expect(
            world.customer(ben).entitlements(at: at(850), catalog: shop)[id("pro")]?.isActive
                == true)
        #expect(world.customer(anon).entitlements(at: at(850), catalog: shop).all.isEmpty)
    }

    @Test("A purchase keeps how it came: what an admin moved stays, and the move can be undone")
    func arrivals() throws {
        var world = World()
        try world.submit([facts([pro])], by: .customer(cleo))
        try world.move(purchaseID("p1"), to: anon)
        let arrival = world.customer(anon).purchase(purchaseID("p1"))?.arrival
        try world.merge(anon, into: ben)
        #expect(world.customer(ben).purchase(purchaseID("p1"))?.arrival == arrival)
        let undone = try MovePurchase.undoing(
            purchaseID("p1"), heldBy: Holder(ben, world.customer(ben)), reason: id("wrong"),
            ticket: nil, catalog: shop)
        #expect(undone.to == cleo)
        let named = transaction("p1", "pro", .autoRenewable, at(0), to: at(30), signed: at(2)) {
            $0.accountToken = token(7).text
        }
        try world.register(token(7).text, for: cleo)
        try world.submit([facts([named])], by: .store)
        #expect(world.holders[purchaseID("p1")] == ben)
        try world.undoMerge(of: anon)
        #expect(world.customer(anon).purchase(purchaseID("p1"))?.arrival == arrival)
    }

    @Test("An undo gives back what came and is still there; what came since stays")
    func undo() throws {
        var world = try bought()
        let before = world.customer(anon)
        let own = transaction("p5", "level3", .nonConsumable, at(2))
        try world.submit([facts([own])], by: .customer(ben))
        try world.merge(anon, into: ben)
        let renewed = transaction("p2", of: "p1", "pro", .autoRenewable, at(30), to: at(60))
        try world.submit([facts([renewed])], by: .customer(ben))
        let since = transaction("p6", "season", .nonRenewing, at(3))
        try world.submit([facts([since])], by: .customer(ben))
        world.give("g_2", "pro", to: ben, days: 3)
        try world.adjust(7, of: ben)
        try world.undoMerge(of: anon)
        let (back, left) = (world.customer(anon), world.customer(ben))
        #expect(back.mergedInto == nil && left.joined.isEmpty)
        #expect(back.purchases.map(\.id) == [purchaseID("c1"), purchaseID("p1")])
        #expect(back.purchase(purchaseID("p1"))?.evidence.count == 2)
        #expect(left.purchases.map(\.id) == [purchaseID("p5"), purchaseID("p6")])
        #expect(back.grants == before.grants && left.grants.map(\.id) == [id("g_2")])
        #expect(back.orders == before.orders && back.tokens == before.tokens)
        #expect(left.orders.isEmpty && left.tokens.isEmpty)
        #expect(back.balance("coins") == 100 && left.balance("coins") == 7)
        #expect(world.tokens[token(1).text] == anon)
    }

    @Test("What left the other customer in between does not come back with an undo")
    func goneMeanwhile() throws {
        var world = try bought()
        try world.merge(anon, into: ben)
        try world.move(purchaseID("p1"), to: cleo)
        try world.move(purchaseID("p1"), to: ben)
        try world.undoMerge(of: anon)
        // A later move brought this purchase to the other customer, so the undo leaves it there.
        #expect(world.holders[purchaseID("p1")] == ben)
        #expect(world.holders[purchaseID("c1")] == anon)
    }

    @Test("What came since under a token that goes back goes with it, unless it brought coins")
    func tokensBringBack() throws {
        var world = try bought()
        try world.merge(anon, into: ben)
        let named = transaction("p9", "level3", .nonConsumable, at(5)) {
            $0.accountToken = token(1).text
        }
        let credited = transaction("c9", "coins", .consumable, at(5)) {
            $0.accountToken = token(1).text
        }
        try world.submit([facts([named]), facts([credited])], by: .store)
        try world.undoMerge(of: anon)
        #expect(world.holders[purchaseID("p9")] == anon)
        #expect(world.holders[purchaseID("c9")] == ben)
        #expect(world.customer(anon).balance("coins") == 100)
        #expect(world.customer(ben).balance("coins") == 100)
    }

    /// What the other customer had, what happened between merge and undo, and whether the coins can go back.
    struct CoinCase: Sendable {
        let words: String
        let own: Int64
        let spent: Int64
        let given: Int64
        let missing: Int64
    }

    @Test(
        "Coins that were spent since do not go back, and others do",
        arguments: [
            CoinCase(words: "nothing was spent", own: 0, spent: 0, given: 0, missing: 0),
            CoinCase(words: "own coins were", own: 50, spent: 50, given: 0, missing: 0),
            CoinCase(words: "one too many was", own: 50, spent: 51, given: 0, missing: 1),
            CoinCase(words: "all were", own: 0, spent: 100, given: 0, missing: 100),
            CoinCase(words: "others came since", own: 0, spent: 60, given: 60, missing: 0),
            CoinCase(words: "too few came", own: 0, spent: 60, given: 59, missing: 1),
            CoinCase(words: "the other had debts", own: -30, spent: 0, given: 0, missing: 0),
            CoinCase(words: "and spent", own: -30, spent: 10, given: 0, missing: 10),
        ])
    func spent(row: CoinCase) throws {
        var world = try bought()
        if row.own != 0 { try world.adjust(row.own, of: ben) }
        try world.merge(anon, into: ben)
        if row.spent > 0 { try world.spend(row.spent, of: ben) }
        if row.given > 0 { try world.adjust(row.given, of: ben) }
        let total = world.customer(ben).balance("coins")
        let loss = MergeRefusal.Loss(
            currency: id("coins"), has: total, needs: 100, missing: row.missing)
        let refusal = Refusal.merge(.spent([loss]))
        if row.missing > 0 {
            #expect(throws: refusal, "\(row.words)") { try world.undoMerge(of: anon) }
            #expect(world.customer(anon).mergedInto == ben)
        } else {
            try world.undoMerge(of: anon)
            #expect(world.customer(anon).balance("coins") == 100, "\(row.words)")
            #expect(world.customer(ben).balance("coins") == total - 100, "\(row.words)")
        }
    }

    @Test("A refund after the merge took its own coins, and the rest goes back")
    func refundedMeanwhile() throws {
        var world = try bought()
        try world.adjust(20, of: anon)
        try world.merge(anon, into: ben)
        var refunded = coins
        refunded.revocation = refund(at: at(3))
        refunded.signedAt = at(3)
        try world.submit([facts([refunded])], by: .store)
        try world.undoMerge(of: anon)
        #expect(world.customer(anon).balance("coins") == 20)
        #expect(world.customer(ben).balance("coins") == 0)
    }

    @Test("A chain ends at the last customer, and is undone from its end")
    func chains() throws {
        var world = try bought()
        try world.adjust(5, of: ben)
        try world.merge(anon, into: ben)
        try world.merge(ben, into: cleo)
        #expect(world.customer(anon).mergedInto == cleo && world.customer(ben).mergedInto == cleo)
        #expect(world.customer(cleo).balance("coins") == 105)
        #expect(throws: Refusal.merge(.undoneLater(anon, first: ben))) {
            try world.undoMerge(of: anon)
        }
        try world.undoMerge(of: ben)
        #expect(world.customer(anon).mergedInto == ben && world.customer(ben).mergedInto == nil)
        #expect(world.customer(ben).balance("coins") == 105)
        try world.undoMerge(of: anon)
        #expect(world.customer(anon).balance("coins") == 100)
        #expect(world.customer(ben).balance("coins") == 5)
        #expect(world.customer(anon).purchases.count == 2)
    }
}
