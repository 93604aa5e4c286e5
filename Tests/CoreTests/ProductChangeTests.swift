import Core
import Histories
import Testing

/// Tests what happens to a period when another one begins. Each product unlocks the entitlement
/// with its name. `pro` is above `plus` and `duo`, which are above `basic`.
@Suite("Changes of product")
struct ProductChangeTests {
    /// The length of periods: in production, in TestFlight, and at two paces of the sandbox.
    static let lengths: [(name: String, milliseconds: Int64)] = [
        ("a year", 365 * day), ("a month", 30 * day), ("a week", 7 * day), ("a day", day),
        ("an hour", hour), ("five minutes", hour / 12),
    ]

    static let catalog = Histories.catalog(
        [("basic", 1), ("plus", 2), ("duo", 2), ("pro", 3)].map { name, level in
            product(name, .autoRenewable(group: "membership", level: level), [name])
        })

    /// The store's later statement about the former period, if any.
    enum Word {
        case none
        /// The statement flags the period as upgraded.
        case flagged
        /// The statement was signed after the next period began, and has no flag.
        case notFlagged
        /// The store refunded the period at this share of its length.
        case refunded(at: Double)
    }

    /// A purchase of `plus`, and another purchase that begins after this share of its period.
    struct Change: CustomTestStringConvertible {
        let testDescription: String
        let product: String
        let share: Double
        let word: Word
        /// The share of the period at which `plus` ends, and its state after that.
        let ends: Double
        let state: String
        let event: String

        init(
            _ description: String, _ product: String, at share: Double, _ word: Word = .none,
            ends: Double, _ state: String, _ event: String
        ) {
            testDescription = description
            self.product = product
            self.share = share
            self.word = word
            (self.ends, self.state, self.event) = (ends, state, event)
        }
    }

    static let upgraded = "subscription.upgraded"
    static let renewed = "subscription.renewed"

    static let changes = [
        Change("An upgrade begins at once", "pro", at: 0.4, ends: 0.4, "upgraded", upgraded),
        Change(
            "and is the same when the store flags the former one", "pro", at: 0.4, .flagged,
            ends: 0.4, "upgraded", upgraded),
        Change(
            "An upgrade in the last hundredth of the period", "pro", at: 0.99, ends: 0.99,
            "upgraded", upgraded),
        Change(
            "and with the flag", "pro", at: 0.99, .flagged, ends: 0.99, "upgraded", upgraded),
        Change(
            "A product of the same level and duration begins at once", "duo", at: 0.5, ends: 0.5,
            "upgraded", upgraded),
        Change(
            "and with the flag", "duo", at: 0.5, .flagged, ends: 0.5, "upgraded", upgraded),
        Change(
            "A lower product that begins at once takes the place too", "basic", at: 0.5, ends: 0.5,
            "upgraded", upgraded),
        Change(
            "and with the flag", "basic", at: 0.5, .flagged, ends: 0.5, "upgraded", upgraded),
        Change(
            "What began in the middle was no renewal, even if the flag lacks later", "pro", at: 0.5,
            .notFlagged, ends: 0.5, "upgraded", upgraded),
        Change(
            "A downgrade begins with the renewal", "basic", at: 1, ends: 1, "expired", renewed),
        Change(
            "and so does a product of the same level and another duration", "duo", at: 1, ends: 1,
            "expired", renewed),
        Change(
            "and a higher one that was chosen for then", "pro", at: 1, .notFlagged, ends: 1,
            "expired", renewed),
        Change(
            "A downgrade that begins a little early, as the store says", "basic", at: 0.999,
            .notFlagged, ends: 1, "expired", renewed),
        Change(
            "and another duration", "duo", at: 0.999, .notFlagged, ends: 1, "expired", renewed),
        Change("A renewal in time", "plus", at: 1, ends: 2, "expired", renewed),
        Change(
            "A renewal a little early", "plus", at: 0.99, ends: 1.99, "expired", renewed),
        Change("A renewal very early", "plus", at: 0.5, ends: 1.5, "expired", renewed),
        Change(
            "Bought after a gap, another product ends nothing", "pro", at: 1.3, ends: 1, "expired",
            renewed),
        Change(
            "Bought after a refund, another product ends nothing", "pro", at: 0.6,
            .refunded(at: 0.3), ends: 0.3, "revoked", renewed),
        Change(
            "The refund of the rest is no other news", "pro", at: 0.6, .refunded(at: 0.6),
            ends: 0.6,
            "upgraded", upgraded),
    ]

    @Test("The former period ends when and why it should", arguments: changes, lengths)
    func ends(_ change: Change, _ length: (name: String, milliseconds: Int64)) {
        func moment(_ share: Double) -> Instant {
            at(0).advanced(byMilliseconds: Int64((share * Double(length.milliseconds)).rounded()))
        }
        func period(_ name: String, _ product: String, from share: Double) -> TransactionFact {
            transaction(
                name, of: "1", product, .autoRenewable, moment(share), to: moment(share + 1))
        }
        let former = period("1", "plus", from: 0)
        let next = period("2", change.product, from: change.share)
        var later = former
        later.signedAt = next.signedAt.advanced(byMilliseconds: 1)
        later.rank = .serverAPI
        switch change.word {
        case .none: later = former
        case .flagged: later.isUpgraded = true
        case .notFlagged: break
        case .refunded(let share):
            later.signedAt = moment(share)
            later.revocation = refund(at: moment(share))
        }
        var receipt = former
        (receipt.rank, receipt.kind) = (.offlineReceipt, nil)
        let orders = [
            [former, later, next], [former, next, later], [next, former, later],
            [next, later, former], [later, next, former], [receipt, next, later, former],
        ]
        for (number, order) in orders.enumerated() {
            let state = CustomerState(recording: order.map { facts([$0]) }, catalog: Self.catalog)
            for (offset, isActive) in [(-1, true), (0, false), (1, false)] {
                let instant = moment(change.ends).advanced(byMilliseconds: Int64(offset))
                let answer = state.entitlements(at: instant, catalog: Self.catalog)[id("plus")]
                #expect(answer?.isActive == isActive, "order \(number), \(offset) ms")
                if !isActive { #expect(answer?.state.rawValue == change.state, "order \(number)") }
            }
            let fresh = state.entitlements(at: next.purchased, catalog: Self.catalog)
            #expect(fresh[id(change.product)]?.isActive == true, "order \(number)")
        }
        if case .notFlagged = change.word, change.share > 0.9, change.share < 1 { return }
        var state = CustomerState()
        let known: TransactionFact
        if case .refunded = change.word { known = later } else { known = former }
        state.record(facts([known]), catalog: Self.catalog)
        #expect(
            state.record(facts([next]), catalog: Self.catalog).map(\.type.name) == [change.event])
        // A later flag does not report a second upgrade.
        if case .flagged = change.word {
            #expect(
                state.record(facts([later]), catalog: Self.catalog).map(\.type.name)
                    == ["purchase.restated"])
        }
        // Whichever transaction arrives second reports the upgrade.
        var backwards = CustomerState()
        backwards.record(facts([next]), catalog: Self.catalog)
        #expect(
            backwards.record(facts([known]), catalog: Self.catalog).map(\.type.name)
                == [change.event])
    }

    @Test(
        "An upgrade between a renewal's charge and its period replaces both",
        arguments: lengths)
    func charged(_ length: (name: String, milliseconds: Int64)) {
        let end = at(0).advanced(byMilliseconds: length.milliseconds)
        let charge = end.advanced(byMilliseconds: -length.milliseconds / 20)
        let change = end.advanced(byMilliseconds: -length.milliseconds / 50)
        func period(_ name: String, _ product: String, _ start: Instant, signed: Instant)
            -> TransactionFact
        {
            transaction(
                name, of: "1", product, .autoRenewable, start,
                to: start.advanced(byMilliseconds: length.milliseconds), signed: signed)
        }
        let first = period("1", "plus", at(0), signed: at(0))
        let renewal = period("2", "plus", end, signed: charge)
        let upgrade = period("3", "pro", change, signed: change)
        let flagged = [first, renewal].map { fact in
            var fact = fact
            fact.isUpgraded = true
            fact.signedAt = change
            if fact.transaction == renewal.transaction { fact.revocation = refund(at: change) }
            return fact
        }
        let all = [first, renewal, upgrade] + flagged
        for order in [all, all.reversed(), [renewal, flagged[1], upgrade, first, flagged[0]]] {
            let state = CustomerState(recording: order.map { facts([$0]) }, catalog: Self.catalog)
            func active(_ instant: Instant) -> [String] {
                state.entitlements(at: instant, catalog: Self.catalog).active.map(\.text)
            }
            #expect(active(change.advanced(byMilliseconds: -1)) == ["plus"])
            #expect(active(change) == ["pro"])
            #expect(active(end) == ["pro"])
            #expect(state.purchases[0].newest?.product == id("pro"))
            #expect(state.subscriptions(at: end, catalog: Self.catalog).first?.product == id("pro"))
        }
        // The store sends neither a flag nor a refund, so only the last purchase counts.
        for order in [[first, renewal, upgrade], [upgrade, renewal, first]] {
            let state = CustomerState(recording: order.map { facts([$0]) }, catalog: Self.catalog)
            for instant in [change, end, upgrade.expires?.advanced(byMilliseconds: -1) ?? end] {
                let answer = state.entitlements(at: instant, catalog: Self.catalog)
                #expect(answer.active == [id("pro")])
            }
            let answer = state.entitlements(at: upgrade.expires ?? end, catalog: Self.catalog)
            #expect(answer.active.isEmpty)
            #expect(state.purchases[0].newest?.product == id("pro"))
        }
    }

    @Test(
        "A renewal that the store signs again after an upgrade still does not undo the upgrade",
        arguments: lengths, [false, true])
    func signedAgain(_ length: (name: String, milliseconds: Int64), isFlagged: Bool) {
        let end = at(0).advanced(byMilliseconds: length.milliseconds)
        let charge = end.advanced(byMilliseconds: -length.milliseconds / 20)
        let change = end.advanced(byMilliseconds: -length.milliseconds / 50)
        let next = change.advanced(byMilliseconds: length.milliseconds)
        func period(_ name: String, _ product: String, _ start: Instant, signed: Instant)
            -> TransactionFact
        {
            transaction(
                name, of: "1", product, .autoRenewable, start,
                to: start.advanced(byMilliseconds: length.milliseconds), signed: signed)
        }
        let first = period("1", "plus", at(0), signed: at(0))
        let renewal = period("2", "plus", end, signed: charge)
        let upgrade = period("3", "pro", change, signed: change)
        let later = period("4", "pro", next, signed: next)
        // The signature is later than the upgrade, and the store does not say that it refunded the renewal.
        var again = renewal
        again.signedAt = end.advanced(byMilliseconds: 1)
        again.isUpgraded = isFlagged
        var flagged = first
        flagged.signedAt = again.signedAt
        flagged.isUpgraded = true
        let all = [first, renewal, upgrade, again]
        let orders = [
            all, all.reversed(), [again, upgrade, first], [flagged, again, upgrade],
            [upgrade, renewal, first, flagged, again],
        ]
        for order in orders {
            func active(_ state: CustomerState, _ instant: Instant) -> [String] {
                state.entitlements(at: instant, catalog: Self.catalog).active.map(\.text)
            }
            var state = CustomerState(recording: order.map { facts([$0]) }, catalog: Self.catalog)
            #expect(active(state, change.advanced(byMilliseconds: -1)) == ["plus"])
            for instant in [change, end, next.advanced(byMilliseconds: -1)] {
                #expect(active(state, instant) == ["pro"])
            }
            #expect(active(state, next).isEmpty)
            #expect(state.purchases[0].newest?.product == id("pro"))
            // The upgrade's own renewal begins while the replaced renewal's period would run.
            state.record(facts([later]), catalog: Self.catalog)
            #expect(active(state, end) == ["pro"])
            #expect(active(state, next) == ["pro"])
            #expect(state.purchases[0].newest?.transaction == later.transaction)
        }
    }

    @Test("A renewal of the former product begins if the upgrade was refunded before it")
    func refundedUpgrade() {
        let length = 30 * day
        func period(_ name: String, _ product: String, from start: Int64) -> TransactionFact {
            let start = at(0).advanced(byMilliseconds: start)
            return transaction(
                name, of: "1", product, .autoRenewable, start,
                to: start.advanced(byMilliseconds: length), signed: start)
        }
        var upgrade = period("2", "pro", from: 25 * day)
        upgrade.revocation = refund(at: at(0).advanced(byMilliseconds: 27 * day))
        upgrade.signedAt = at(0).advanced(byMilliseconds: 28 * day)
        let all = [period("1", "plus", from: 0), upgrade, period("3", "plus", from: length)]
        for order in [all, all.reversed()] {
            let state = CustomerState(
                recording: order.map { facts([$0]) }, catalog: Self.catalog)
            for share in [31, 45, 59] {
                let instant = at(0).advanced(byMilliseconds: Int64(share) * day)
                let active = state.entitlements(at: instant, catalog: Self.catalog).active
                #expect(active.map(\.text) == ["plus"], "day \(share)")
            }
        }
    }

    @Test("The store's statement in an earlier short period says nothing about the newest one")
    func staleWord() {
        let minutes: Int64 = 60_000
        let state = CustomerState(recording: [
            facts(
                [
                    transaction("1", "pro", .autoRenewable, at(0), to: at(0, 5 * minutes)),
                    transaction(
                        "2", of: "1", "pro", .autoRenewable, at(0, 20 * minutes),
                        to: at(0, 25 * minutes)),
                ],
                renewals: [
                    renewal(of: "1", signed: at(0, 4 * minutes), on: false) {
                        $0.expirationIntent = .cancelled
                    }
                ])
        ])
        let answer = state.entitlements(at: at(0, 21 * minutes), catalog: shop)[id("pro")]
        #expect(answer?.willRenew == true)
    }

    /// The expected results come from the store's pages, not from Deed's rules.
    @Test(
        "Random lives by the store's pages, with production's and the sandbox's lengths",
        arguments: 0..<20)
    func lives(batch: UInt64) {
        for seed in batch * 200..<batch * 200 + 200 {
            let life = StoreLife(seed: seed)
            var random = SeededGenerator(seed: seed)
            for order in 0..<3 {
                let told = order == 0 ? life.facts : life.facts.shuffled(using: &random)
                let state = CustomerState(
                    recording: told.map { AnyFact.facts([$0]) }, catalog: StoreLife.catalog)
                for moment in life.moments {
                    let answer = state.entitlements(
                        at: Instant(milliseconds: moment), catalog: StoreLife.catalog)
                    let active = Dictionary(
                        uniqueKeysWithValues: answer.active.map {
                            ($0.text, answer[$0]?.state == .grace)
                        })
                    let expected = life.products(at: moment)
                    #expect(
                        active == expected, "seed \(seed), order \(order), at \(moment)\n\(life)")
                    if active != expected { return }
                }
                guard let unpaid = life.unpaid else { continue }
                let answer = state.entitlements(
                    at: Instant(milliseconds: unpaid.since), catalog: StoreLife.catalog)
                #expect(answer[id(unpaid.product)]?.state == .retry, "seed \(seed)\n\(life)")
            }
            var state = CustomerState()
            for fact in life.facts {
                let events = state.record(AnyFact.facts([fact]), catalog: StoreLife.catalog)
                guard let sale = life.sale(fact), let isSold = sale.isUpgrade else { continue }
                let name = events.first?.type.name
                let isUpgrade = name == Self.upgraded
                #expect(isUpgrade == isSold, "seed \(seed): \(name ?? "none")\n\(life)")
                if isUpgrade != isSold { return }
            }
        }
    }
}
