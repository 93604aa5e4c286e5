import Core
import Histories
import Testing

@Suite("Balances")
struct BalanceTests {
    private func coins(
        _ name: String = "1", signed: Int64 = 0, quantity: Int64 = 1,
        _ revocation: Revocation? = nil
    ) -> TransactionFact {
        transaction(name, "coins", .consumable, at(0), signed: at(signed)) {
            $0.quantity = quantity
            $0.revocation = revocation
        }
    }

    @Test("A consumable is credited once, whatever arrives")
    func once() {
        var state = CustomerState()
        #expect(state.record(coins()) == ["purchase.made", "balance.credited"])
        #expect(state.record(coins()).isEmpty)
        #expect(state.record(coins(signed: 5)) == ["purchase.restated"])
        var receipt = coins(signed: 9)
        receipt.rank = .offlineReceipt
        #expect(state.record(receipt) == ["purchase.restated"])
        #expect(state.balance("coins") == 100)
    }

    @Test("A consumable of several pieces and several currencies is credited in full")
    func several() {
        var state = CustomerState()
        state.record(
            facts([transaction("1", "chest", .consumable, at(0)) { $0.quantity = 3 }]))
        #expect(state.balance("coins") == 3000)
        #expect(state.balance("gems") == 15)
        #expect(state.entitlements(at: at(1), catalog: shop).all.isEmpty)
    }

    @Test("A refund debits even what was spent, and its reversal credits it again")
    func refunded() throws {
        var state = CustomerState(recording: [facts([coins()])])
        for event in try state.decide(
            SpendBalance(currency: id("coins"), amount: 80, reason: nil))
        {
            state.apply(event)
        }
        #expect(
            state.record(coins(signed: 3, refund(at: at(2))))
                == ["purchase.refunded", "balance.debited"])
        #expect(state.balance("coins") == -80)
        #expect(state.record(coins(signed: 6)) == ["refund.reversed", "balance.credited"])
        #expect(state.balance("coins") == 20)
        #expect(
            state.record(coins(signed: 9, refund(at: at(8))))
                == ["purchase.refunded", "balance.debited"])
        #expect(state.balance("coins") == -80)
    }

    @Test(
        "A prorated refund debits its share, rounded in favour of the customer",
        arguments: [
            (100_000, 0), (50_000, 50), (33_333, 67), (1, 100), (0, 100), (-5, 100), (200_000, 0),
        ] as [(Int64, Int64)])
    func prorated(_ milliPercent: Int64, _ left: Int64) {
        var state = CustomerState(recording: [facts([coins()])])
        _ = state.record(coins(signed: 3, refund(at: at(2), .prorated, milliPercent: milliPercent)))
        #expect(state.balance("coins") == left)
    }

    @Test(
        "The share of a refund applies to all pieces together",
        arguments: [(33_333, 201), (66_667, 100), (100_000, 0), (40_000, 180)] as [(Int64, Int64)])
    func sharePerQuantity(_ milliPercent: Int64, _ left: Int64) {
        let state = CustomerState(recording: [
            facts([
                coins(
                    signed: 3, quantity: 3, refund(at: at(2), .prorated, milliPercent: milliPercent)
                )
            ])
        ])
        #expect(state.balance("coins") == left)
    }

    @Test("A product that stands for others gives their benefits, until all are revoked")
    func items() {
        func bought(signed: Int64, _ items: [SoldItem]) -> TransactionFact {
            transaction("1", "anything", .consumable, at(0), signed: at(signed)) {
                $0.items = items
            }
        }
        var state = CustomerState()
        let (coins, chest) = (SoldItem(id("coins")), SoldItem(id("chest")))
        #expect(
            state.record(bought(signed: 0, [coins, chest]))
                == ["purchase.made", "balance.credited", "balance.credited"])
        #expect(state.balance("coins") == 1100 && state.balance("gems") == 5)
        let goneCoins = SoldItem(id("coins"), revokedAt: at(2))
        #expect(state.record(bought(signed: 3, [goneCoins, chest])) == ["purchase.refunded"])
        #expect(state.balance("coins") == 1100)
        let goneChest = SoldItem(id("chest"), revokedAt: at(4))
        #expect(
            state.record(bought(signed: 5, [goneCoins, goneChest]))
                == ["purchase.refunded", "balance.debited", "balance.debited"])
        #expect(state.balance("coins") == 0 && state.balance("gems") == 0)
        #expect(
            state.record(bought(signed: 6, [coins, chest]))
                == ["refund.reversed", "balance.credited", "balance.credited"])
    }

    @Test("A transaction that arrives refunded is credited and debited, and can be reversed")
    func refundedFirst() {
        var state = CustomerState()
        #expect(
            state.record(coins(signed: 3, refund(at: at(2))))
                == ["purchase.made", "balance.credited", "balance.debited"])
        #expect(state.record(coins()).isEmpty)
        #expect(state.balance("coins") == 0)
        #expect(state.record(coins(signed: 6)) == ["refund.reversed", "balance.credited"])
        #expect(state.balance("coins") == 100)
    }

    @Test("A credit keeps the amount of its day")
    func catalogChange() {
        let richer = catalog([product("coins", .consumable(credits: [id("coins"): 500]))])
        var state = CustomerState(recording: [facts([coins()])])
        state.record(facts([coins(signed: 3, refund(at: at(2)))]), catalog: richer)
        #expect(state.balance("coins") == 0)
        state.record(facts([coins(signed: 6)]), catalog: richer)
        #expect(state.balance("coins") == 100)
        state.record(facts([coins("2")]), catalog: richer)
        #expect(state.balance("coins") == 600)
    }

    @Test("A product that the catalog learns later is credited when its evidence comes again")
    func lateCatalog() {
        var state = CustomerState()
        state.record(facts([coins()]), catalog: Catalog())
        #expect(state.balances.currencies.isEmpty)
        #expect(state.record(coins()) == ["balance.credited"])
        #expect(state.balance("coins") == 100)
    }

    @Test(
        "Amounts beyond a bound are clamped to it, without a trap",
        arguments: [
            (0, 0), (-3, 0), (10_000, 1_000_000), (.max, Balances.limit), (.min, 0),
        ] as [(Int64, Int64)])
    func bounds(_ quantity: Int64, _ amount: Int64) {
        var state = CustomerState()
        _ = state.record(coins(quantity: quantity))
        #expect(state.balance("coins") == amount)
        _ = state.record(coins(signed: 3, quantity: quantity, refund(at: at(2))))
        #expect(state.balance("coins") == 0)
    }

    @Test("Sums above what a balance can show are still counted correctly")
    func wide() {
        var state = CustomerState()
        let count = 2000
        for number in 0..<count { _ = state.record(coins("\(number)", quantity: .max)) }
        #expect(state.balance("coins") == .max)
        for number in 1..<count {
            _ = state.record(coins("\(number)", signed: 3, quantity: .max, refund(at: at(2))))
        }
        #expect(state.balance("coins") == Balances.limit)
    }

    @Test("Spending needs a sufficient balance")
    func spending() throws {
        let state = CustomerState(recording: [facts([coins()])])
        #expect(
            try state.decide(SpendBalance(currency: id("coins"), amount: 100, reason: nil)).count
                == 1)
        #expect(throws: Refusal.balance(.insufficient(id("coins"), has: 100, needs: 101))) {
            try state.decide(SpendBalance(currency: id("coins"), amount: 101, reason: nil))
        }
        for amount: Int64 in [0, -1, .min, .max] {
            #expect(throws: Refusal.balance(.amountOutOfRange(amount, limit: Balances.limit))) {
                try state.decide(SpendBalance(currency: id("coins"), amount: amount, reason: nil))
            }
        }
    }

    @Test("An adjustment may go below zero, but never beyond the bounds")
    func adjusting() throws {
        var state = CustomerState(recording: [facts([coins()])])
        func adjust(_ amount: Int64) throws {
            for event in try state.decide(
                AdjustBalance(
                    currency: id("coins"), amount: amount, reason: id("support"), ticket: nil))
            {
                state.apply(event)
            }
        }
        try adjust(-250)
        #expect(state.balance("coins") == -150)
        try adjust(Balances.limit)
        #expect(throws: Refusal.balance(.outOfBounds(id("coins"), limit: Balances.limit))) {
            try adjust(151)
        }
        try adjust(150)
        #expect(state.balance("coins") == Balances.limit)
        for amount: Int64 in [0, .min, .max] {
            #expect(throws: Refusal.balance(.amountOutOfRange(amount, limit: Balances.limit))) {
                try adjust(amount)
            }
        }
    }
}
