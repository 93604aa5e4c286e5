import Core
import Histories
import Testing

/// Tests answers that Google's pages do not mention but that Google may give.
@Suite("Unusual readings")
struct UnusualReadingTests {
    private static let packs = catalog([
        pack("coins", 100), pack("big", 1000),
        Product(
            key: ProductKey(store: .google, id: id("pro")),
            terms: .autoRenewable(group: nil, level: 1), entitlements: [id("pro")]),
    ])

    private static func pack(_ name: String, _ coins: Int64) -> Product {
        Product(
            key: ProductKey(store: .google, id: id(name)),
            terms: .consumable(credits: [id("coins"): coins]), entitlements: [])
    }

    private func state(_ readings: [TransactionFact]) -> CustomerState {
        CustomerState(recording: readings.map { facts([$0]) }, catalog: Self.packs)
    }

    /// Returns the balance after the readings, or `nil` if it depends on their order.
    private func coins(_ readings: TransactionFact...) -> Int64? {
        let balances = [readings, readings.reversed(), readings + readings].map {
            state($0).balance("coins")
        }
        return Set(balances).count == 1 ? balances[0] : nil
    }

    private func event(of last: TransactionFact, after first: TransactionFact) -> String? {
        var state = state([first])
        return state.record(facts([last]), catalog: Self.packs).first?.type.name
    }

    @Test("An order that is stated later, or no longer, counts no coins twice")
    func lateOrder() {
        let first = playReading(.purchased, at: at(1), [playGood("coins", order: nil)])
        let second = playReading(.purchased, at: at(2), [playGood("coins", order: "GPA.1")])
        let third = playReading(.purchased, at: at(3), [playGood("coins", order: nil)])
        let refund = playReading(.takenBack, at: at(4), [playGood("coins", order: "GPA.1")])
        #expect(coins(first, second) == 100)
        #expect(coins(second, third) == 100)
        #expect(coins(first, second, third) == 100)
        #expect(coins(first, refund) == 0)
        #expect(coins(first, second, third, refund) == 0)
    }

    @Test("A product that becomes known later has coins of its own")
    func basket() {
        let some = playReading(.purchased, at: at(1), [playGood("coins")])
        let all = playReading(.purchased, at: at(2), [playGood("big"), playGood("coins")])
        #expect(coins(some, all) == 1100)
    }

    @Test("Coins of several unknown products come as catalogs get to know them, in any order")
    func lateBasket() {
        let basket = playReading(.purchased, at: at(1), [playGood("coins"), playGood("big")])
        for order in [["coins", "big"], ["big", "coins"]] {
            var state = CustomerState(recording: [facts([basket])], catalog: Catalog())
            let waiting = [WaitingCredit(basket, by: Catalog())].compactMap(\.self)
            #expect(waiting.map(\.product) == [id("coins")])
            var (known, expected): ([Product], Int64) = ([], 0)
            for name in order {
                let coins: Int64 = name == "big" ? 1000 : 100
                known.append(Self.pack(name, coins))
                expected += coins
                let edition = catalog(known)
                for event in state.settling(waiting, by: edition) { state.apply(event) }
                #expect(state.balance("coins") == expected)
                let isSettled = waiting.allSatisfy { state.isSettled($0, by: edition) }
                #expect(isSettled == (known.count == order.count))
            }
        }
    }

    @Test("Coins wait for their product even if the answer first lists a rental")
    func rental() {
        let film = playGood("film") { $0.isRented = true }
        let basket = playReading(.purchased, at: at(1), [film, playGood("big")])
        #expect(WaitingCredit(basket, by: Catalog())?.product == id("big"))
        #expect(
            WaitingCredit(playReading(.purchased, at: at(1), [film]), by: Catalog()) == nil)
    }

    @Test("A product that is listed twice counts with the pieces of both")
    func twice() {
        let both = playReading(
            .purchased, at: at(1), [playGood("coins", 1, left: 1), playGood("coins", 3, left: 3)])
        let partly = playReading(
            .purchased, at: at(2), [playGood("coins", 1, left: 0), playGood("coins", 3, left: 1)])
        #expect(coins(both) == 400)
        #expect(coins(both, partly) == 100)
    }

    @Test("What is taken back as a whole needs no items")
    func bare() {
        let bought = playReading(.purchased, at: at(1), [playGood("coins", 3)])
        let refund = playReading(.takenBack, at: at(2), [])
        #expect(coins(bought, refund) == 0)
    }

    @Test("A change of base plan that waits takes nothing away, wherever the items stand")
    func basePlan() {
        let now = playItem("pro", "GPA.1", to: at(30), renews: false) { $0.basePlan = "monthly" }
        let next = playItem("pro", nil, to: nil) { $0.basePlan = "yearly" }
        for items in [[now, next], [next, now]] {
            let state = state([playReading(.active, at: at(5), items, mark: "a")])
            let pro = state.entitlements(at: at(6), catalog: Self.packs).all.first
            #expect(pro?.isActive == true && pro?.run.end == at(30))
        }
    }

    @Test("A first answer without access gives none, whatever end it names")
    func alreadyOver() {
        for word in [Reading.State.expired, .onHold, .paused] {
            let state = state([
                playReading(word, at: at(5), [playItem("pro", to: at(30))], mark: "a")
            ])
            for day in [6, 29] as [Int64] {
                let answer = state.entitlements(at: at(day), catalog: Self.packs)
                #expect(answer.active == [])
            }
        }
    }

    @Test("A removal or replacement that was announced is no refund, even a little early")
    func announced() {
        let last = playReading(
            .active, at: at(31), [playItem("extra", "GPA.2", to: at(60))], mark: "b")
        let rows: [(String, (inout Reading.Item) -> Void)] = [
            ("subscription.renewed", { $0.nextProduct = id("extra") }),
            ("subscription.renewed", { $0.isRemoved = true }),
            ("purchase.refunded", { _ in }),
        ]
        for (type, change) in rows {
            // The item ends in an hour.
            let item = playItem("pro", "GPA.1", to: at(31, 3_600_000), change)
            let first = playReading(.active, at: at(1), [item], mark: "a")
            #expect(event(of: last, after: first) == type)
        }
    }

    @Test("A top-up renews, because the product goes on; another product is an upgrade")
    func topUp() {
        let first = playReading(.active, at: at(0), [playItem("pro", to: at(30))], mark: "a")
        func newer(_ product: String) -> TransactionFact {
            playReading(
                .active, "t2", of: "t1", at: at(9), from: at(9),
                [playItem(product, "GPA.2", to: at(60))], mark: "b"
            ) { $0.continues = id("t1") }
        }
        #expect(event(of: newer("pro"), after: first) == "subscription.renewed")
        #expect(event(of: newer("extra"), after: first) == "subscription.upgraded")
    }

    @Test("What was not understood is asked about again a day later")
    func unknown() {
        let state = state([
            playReading(.unknown(.text("NEW")), at: at(5), [playItem("pro", to: at(30))], mark: "a")
        ])
        #expect(state.inquiryAt == at(6))
    }
}
