import Core
import Histories
import Testing

@Suite("Readings as facts")
struct ReadingTests {
    private func state(_ readings: [TransactionFact]) -> CustomerState {
        CustomerState(recording: readings.map { facts([$0]) }, catalog: playShop)
    }

    /// Returns the types of the events that the last of these readings causes.
    private func events(_ readings: TransactionFact...) -> [String] {
        var state = state(Array(readings.dropLast()))
        guard let last = readings.last else { return [] }
        return state.record(facts([last]), catalog: playShop).map(\.type.name)
    }

    private func month(_ number: Int64, mark: String? = "a", at instant: Int64) -> TransactionFact {
        playReading(
            .active, at: at(instant),
            [playItem("pro", "GPA.1..\(number)", to: at(30 * number + 30))],
            mark: mark.map { "\($0)\(number)" })
    }

    private func coins(_ left: Int64?, at instant: Int64) -> TransactionFact {
        playReading(.purchased, at: at(instant), [playGood("coins", 3, left: left)])
    }

    @Test("A reading makes the event that describes what is new")
    func types() {
        let bought = month(0, at: 0)
        #expect(events(bought) == ["purchase.made"])
        #expect(events(bought, month(1, at: 31)) == ["subscription.renewed"])
        let held = playReading(
            .onHold, at: at(31), [playItem("pro", "GPA.1..0", to: at(30))], mark: "h")
        #expect(events(bought, held) == ["purchase.restated"])
        let revoked = playReading(
            .expired, at: at(9), [playItem("pro", "GPA.1..0", to: at(8), renews: false)], mark: "r")
        #expect(events(bought, revoked) == ["purchase.refunded"])
        let moved = playReading(
            .active, at: at(9), [playItem("pro", "GPA.1..0", to: at(40))], mark: "m")
        #expect(events(bought, moved) == ["subscription.extended"])
        let upgrade = playReading(
            .active, "t2", of: "t1", at: at(9), from: at(9), [playItem("plus", "GPA.2", to: at(40))]
        ) { $0.continues = id("t1") }
        #expect(events(bought, upgrade) == ["subscription.upgraded"])
    }

    @Test("A reading that only repeats what is known makes no event")
    func repetition() {
        #expect(events(month(0, at: 0), month(0, at: 0)) == [])
        #expect(events(month(0, at: 0), month(0, at: 9)) == [])
        #expect(events(month(0, mark: nil, at: 0), month(0, mark: nil, at: 9)) == [])
        #expect(events(coins(3, at: 1), coins(3, at: 9)) == [])
        // An earlier reading is new information, because access may have begun or ended then.
        #expect(events(month(0, at: 9), month(0, at: 0)) == ["purchase.restated"])
    }

    @Test("Coins are credited by the quantity, and debited by what is no longer refundable")
    func coins() {
        #expect(events(coins(3, at: 1)) == ["purchase.made", "balance.credited"])
        #expect(
            events(coins(3, at: 1), coins(1, at: 5)) == ["purchase.refunded", "balance.debited"])
        let rows: [([TransactionFact], Int64)] = [
            ([coins(nil, at: 1)], 300), ([coins(3, at: 1)], 300), ([coins(1, at: 1)], 100),
            ([coins(3, at: 1), coins(1, at: 5)], 100), ([coins(3, at: 1), coins(0, at: 5)], 0),
            // A reading without the number changes no balance.
            ([coins(3, at: 1), coins(1, at: 5), coins(nil, at: 7)], 100),
            ([coins(1, at: 5), playReading(.takenBack, at: at(9), [playGood("coins", 3)])], 0),
        ]
        for (readings, balance) in rows {
            for order in [readings, readings.reversed(), readings + readings] {
                #expect(state(order).balance("coins") == balance)
            }
        }
    }

    @Test("Several products of one order do not collide, and the order leads to each")
    func severalItems() {
        let basket = playReading(
            .purchased, at: at(1), [playGood("level2"), playGood("coins", 2)])
        let state = state([basket])
        #expect(state.balance("coins") == 200)
        #expect(state.entitlements(at: at(2), catalog: playShop).active == [id("level2")])
        let names = state.purchases[0].evidence.map(\.effective)
        #expect(names.map(\.transaction.text) == ["t1:coins", "t1:level2"])
        #expect(names.map(\.lineItem) == ["GPA.1", "GPA.1"])
    }

    @Test("What is bought once is called after its token and its product")
    func withoutOrder() {
        let state = state([playReading(.purchased, at: at(1), [playGood("coins", order: nil)])])
        #expect(state.purchases[0].evidence.map(\.effective.transaction.text) == ["t1:coins"])
        #expect(state.balance("coins") == 100)
    }

    /// A token, a second one that continues it, and a third one that continues the second.
    private let chain: [TransactionFact] = [
        playReading(.active, "t1", at: at(0), [playItem("plus", to: at(30))], mark: "a"),
        // Deed knew the earlier token when it read this one.
        playReading(
            .active, "t2", of: "t1", at: at(10), from: at(10),
            [playItem("pro", "GPA.2", to: at(40))], mark: "b"
        ) { $0.continues = id("t1") },
        // Deed could not read the earlier token when it read this one.
        playReading(
            .active, "t3", of: "t2", at: at(20), from: at(20),
            [playItem("extra", "GPA.3", to: at(50))], mark: "c"
        ) { $0.continues = id("t2") },
    ]

    @Test("A chain is one purchase, whichever of its tokens is learnt last")
    func middle() {
        let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]]
        let states = orders.map { order in state(order.map { chain[$0] }) }
        for state in states {
            #expect(state.purchases == states[0].purchases)
            #expect(state.purchases.map(\.id.description) == ["google:t1"])
            #expect(state.entitlements(at: at(25), catalog: playShop).active == [id("extra")])
            // Each name of the purchase leads to it.
            let other = PurchaseID(store: .google, original: id("t2"))
            #expect(state.purchase(other)?.id == state.purchases[0].id)
        }
    }

    @Test("Double links and cycles end, and the newest token gives access")
    func cycles() {
        var facts = chain
        facts[0].reading?.continues = id("t3")
        let twice = playReading(
            .active, "t4", of: "t1", at: at(12), from: at(12),
            [playItem("plus", "GPA.4", to: at(42))], mark: "d"
        ) { $0.continues = id("t1") }
        let loop = playReading(
            .active, "t5", at: at(0), [playItem("plus", "GPA.5", to: at(30))], mark: "e"
        ) { $0.continues = id("t5") }
        let state = state(facts + [twice, loop])
        #expect(state.purchases.count == 2)
        let active = state.entitlements(at: at(25), catalog: playShop).active
        #expect(Set(active) == [id("extra"), id("plus")])
    }

    @Test("Instalments are a commitment, and a cancellation waits for its end")
    func instalments() throws {
        let item = playItem("pro", to: at(31)) {
            $0.instalments = Reading.Instalments(
                payments: 12, paymentsLeft: 11, laterPayments: nil, endsWithCommitment: false)
        }
        let first = state([playReading(.active, at: at(0), [item], mark: "a")])
        let status = try #require(first.subscriptions(at: at(1), catalog: playShop).first)
        #expect(status.commitment?.commitment.period == 1)
        #expect(status.commitment?.commitment.periods == 12)
        #expect(status.commitment?.commitment.ends == instant("2027-01-01T00:00:00Z"))
        #expect(status.willRenew && status.code == "5.0")
        var last = item
        last.instalments = Reading.Instalments(
            payments: 12, paymentsLeft: 0, laterPayments: nil, endsWithCommitment: true)
        let ending = state([playReading(.active, at: at(0), [last], mark: "b")])
        let end = try #require(ending.subscriptions(at: at(1), catalog: playShop).first)
        #expect(end.isActive && !end.willRenew && end.code == "4.0")
        #expect(end.commitment?.commitment.isLastPeriod == true)
    }

    @Test("A price that needs consent is told with the renewal")
    func consent() {
        let item = playItem("pro", to: at(30)) { $0.priceConsent = .pending }
        let state = state([playReading(.active, at: at(0), [item], mark: "a")])
        #expect(state.purchases[0].renewal?.priceConsent == .pending)
    }

    @Test("The store is asked again when news of any item is due")
    func inquiries() {
        let late: Int64 = 5 * 60_000
        let rows: [(TransactionFact, Instant?)] = [
            (month(0, at: 1), at(30, late)),
            // After a month without news, Deed asks again.
            (playReading(.active, at: at(0), [playItem("pro", to: at(365))], mark: "a"), at(30)),
            // The customer may pay or end the pause at any time.
            (playReading(.grace, at: at(31), [playItem("pro", to: at(34))], mark: "a"), at(32)),
            (playReading(.onHold, at: at(31), [playItem("pro", to: at(30))], mark: "a"), at(32)),
            (
                playReading(.paused, at: at(31), [playItem("pro", to: at(30))], mark: "a") {
                    $0.resumesAt = at(40)
                }, at(32)
            ),
            // The store has not processed the renewal yet, of the only item or of one of several.
            (
                playReading(.active, at: at(31), [playItem("pro", to: at(30))], mark: "a"),
                at(31, late)
            ),
            (
                playReading(
                    .active, at: at(31),
                    [playItem("pro", to: at(30)), playItem("extra", to: at(365))], mark: "a"),
                at(31, late)
            ),
            (
                playReading(
                    .active, at: at(31), [playItem("pro", to: at(30), renews: false)], mark: "a"),
                nil
            ),
            (playReading(.expired, at: at(31), [playItem("pro", to: at(30))], mark: "a"), nil),
            (playReading(.purchased, at: at(1), [playGood("level2")]), nil),
        ]
        for (reading, inquiry) in rows { #expect(state([reading]).inquiryAt == inquiry) }
    }

    @Test(
        "After an answer without news the store is asked again in a month, or when something is due"
    )
    func rests() {
        let late: Int64 = 5 * 60_000
        let yearly = playReading(.active, at: at(0), [playItem("pro", to: at(365))], mark: "a")
        let held = playReading(.onHold, at: at(31), [playItem("pro", to: at(30))], mark: "h")
        let between = playReading(.active, at: at(31), [playItem("pro", to: at(30))], mark: "b")
        let rows: [(TransactionFact, Instant, Instant?)] = [
            (yearly, at(31), at(61)), (yearly, at(350), at(365, late)),
            // The subscription should already have renewed.
            (yearly, at(366), nil), (month(0, at: 1), at(31), nil),
            // The customer may pay at any time.
            (held, at(62), at(63)), (between, at(31), at(31, late)), (between, at(32), nil),
            (month(0, at: 1), at(20), at(30, late)),
        ]
        for (reading, now, rest) in rows {
            #expect(state([reading]).purchases[0].rest(from: now) == rest)
        }
    }

    /// Returns a token that continues another one. Its period lasts thirty days from that day.
    private func token(
        _ name: String, continuing older: String, from day: Int64, readAt: Int64
    ) -> TransactionFact {
        playReading(
            .active, name, of: "t1", at: at(readAt), from: at(day),
            [playItem("pro", "GPA.\(name)", to: at(day + 30))], mark: name
        ) { $0.continues = id(older) }
    }

    @Test("In a circle of tokens the store is asked by the one that gives access")
    func circle() {
        let circle = [
            token("t1", continuing: "t2", from: 0, readAt: 12),
            token("t2", continuing: "t1", from: 10, readAt: 11),
        ]
        let late: Int64 = 5 * 60_000
        for order in [circle, circle.reversed()] {
            let purchase = state(order).purchases[0]
            #expect(purchase.inquiryAt == at(40, late))
            #expect(purchase.tokens(dueAt: at(40)) == [])
            #expect(purchase.tokens(dueAt: at(40, late)) == ["t2"])
        }
    }

    @Test("Where two tokens continue the same one, each is asked about when its news is due")
    func doubleLink() {
        let late: Int64 = 5 * 60_000
        let purchase = state([
            month(0, at: 0), token("t2", continuing: "t1", from: 10, readAt: 11),
            // Deed read this token after the other token's end.
            token("t3", continuing: "t1", from: 20, readAt: 41),
        ]).purchases[0]
        #expect(purchase.inquiryAt == at(40, late))
        #expect(purchase.tokens(dueAt: at(41)) == ["t2"])
        #expect(purchase.tokens(dueAt: at(51)) == ["t2", "t3"])
    }

    @Test("A purchase moves with its readings, and an explanation names them")
    func moved() throws {
        let purchase = PurchaseID(store: .google, original: id("t1"))
        let holder = state(chain)
        let move = MovePurchase(
            purchase, from: id("anna"), to: id("ben"), cause: .transferred, catalog: playShop)
        let events = try move.decide(from: holder, to: CustomerState(), now: at(26))
        var ben = CustomerState()
        for event in events.arriving { ben.apply(event) }
        #expect(ben.purchases.map(\.readings) == holder.purchases.map(\.readings))
        let explained = ben.explanation(of: id("extra"), at: at(25), catalog: playShop)
        #expect(explained.reasons.first?.readings == [chain[2]])
    }

    @Test("A customer's own name for an account is a token only if it is a UUID")
    func tokens() {
        var fact = month(0, at: 0)
        fact.accountToken = "6F0A4F0E-8A0E-4B43-9F5D-0D1B6C0F8A11"
        #expect(
            state([fact]).purchases[0].tokens.map(\.text)
                == ["6f0a4f0e-8a0e-4b43-9f5d-0d1b6c0f8a11"])
        fact.accountToken = "player 7"
        #expect(state([fact]).purchases[0].tokens.isEmpty)
    }
}
