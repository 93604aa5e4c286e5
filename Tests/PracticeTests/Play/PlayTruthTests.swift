import Core
import Foundation
import Histories
import JSON
import Practice
import Testing

/// Reads the store's answers as Google's pages describe them, without access to the store's records.
private struct PlainReader {
    let answers: [String: JSON]
    var readsLinks = true

    /// Returns the products that the customer may use at that instant.
    func usable(at now: Instant) -> Set<String> {
        let older = readsLinks ? Set(answers.values.compactMap { replaced(by: $0) }) : []
        var found: Set<String> = []
        for (token, answer) in answers where !older.contains(token) {
            if let state = answer["subscriptionState"]?.string {
                let serves = ["ACTIVE", "IN_GRACE_PERIOD", "CANCELED"]
                    .contains(state.replacing("SUBSCRIPTION_STATE_", with: ""))
                for item in answer["lineItems"]?.array ?? [] where serves {
                    let end = item["expiryTime"]?.string.flatMap { Instant(text: $0) }
                    guard item["latestSuccessfulOrderId"] != nil, let end, now < end else {
                        continue
                    }
                    found.insert(item["productId"]?.string ?? "")
                }
            } else if answer["purchaseStateContext"]?["purchaseState"] == "PURCHASED" {
                let item = answer["productLineItem"]?.array?.first
                let isRented = item?["productOfferDetails"]?["rentOfferDetails"] != nil
                let bought = answer["purchaseCompletionTime"]?.string.flatMap { Instant(text: $0) }
                if isRented, let bought, bought.days(30) <= now { continue }
                found.insert(item?["productId"]?.string ?? "")
            }
        }
        return found
    }

    /// Returns the token that this one replaced. If its payment is pending or was never made, there is none.
    private func replaced(by answer: JSON) -> String? {
        let state = answer["subscriptionState"]?.string ?? ""
        return state.contains("PENDING") ? nil : answer["linkedPurchaseToken"]?.string
    }
}

@Suite("The practice store's Google Play over two years of random lives")
struct PlayTruthTests {
    private static let acts: [(Step.Act, [String?])] = [
        (
            .buy,
            [
                "pro:monthly", "pro:yearly", "pro:prepaid-month", "pro:instalments",
                "premium:monthly",
            ]
        ),
        (.buy, ["coins.100", "level2", "film", "pro:monthly"]), (.finish, [nil]),
        (.cancel, [nil, "sounds"]), (.resume, [nil]), (.pause, [nil]),
        (.hold, [nil]), (.recover, [nil]), (.failBilling, [nil]), (.fixBilling, [nil]),
        (.topUp, [nil]), (.addOn, ["sounds:monthly", "premium:monthly"]),
        (.change, ["pro:monthly", "pro:yearly", "premium:monthly"]), (.postpone, [nil]),
        (.refund, [nil, "sounds", "film", "level2"]), (.approve, [nil]), (.decline, [nil]),
        (.resubscribe, [nil]), (.consent, [nil]),
    ]

    /// The number of customers. Each lives two years. The tests of the other stores use the same setting.
    private static let lives = UInt64(givenCount("DEED_LIVES", or: 100))

    @Test(
        "What it answers gives the access that its books state, and Deed the same, at every boundary"
    )
    func agree() throws {
        var seen = Seen()
        for seed in 0..<Self.lives { try live(seed, &seen) }
        // The links between tokens must matter for access.
        #expect(seen.wrongWithoutLinks > 0)
        #expect(seen.taken > 1000 && seen.readings > 1000)
        let states = [
            "PENDING", "PENDING_PURCHASE_CANCELED", "ACTIVE", "IN_GRACE_PERIOD", "ON_HOLD",
            "PAUSED",
            "CANCELED", "EXPIRED",
        ]
        #expect(Set(states.map { "SUBSCRIPTION_STATE_\($0)" }) == seen.states)
    }

    /// What happened in the lives.
    private struct Seen {
        var states: Set<String> = []
        var wrongWithoutLinks = 0
        var readings = 0
        var taken = 0
    }

    private func live(_ seed: UInt64, _ seen: inout Seen) throws {
        var random = SeededGenerator(seed: seed)
        var life = try PlayedLife(seed: seed) { $0.oldTokensLinger = seed % 2 == 0 }
        var customer = PlayCustomer()
        let end = opening.days(730)
        var taken = 0
        while life.world.now < end {
            taken += takeOne(&life, &random) ? 1 : 0
            let next = life.world.now.advanced(
                byMilliseconds: Int64(random.next() % (random.next() % 6 == 0 ? 45 : 6)) * day
                    + Int64(random.next() % 86_400_000))
            while let due = life.world.nextDue, due <= next {
                life.advance(to: due)
                try compare(life, &customer, seed, &seen)
            }
            life.advance(to: next)
            try compare(life, &customer, seed, &seen)
        }
        seen.taken += taken
        seen.readings += customer.recorded.count
        var late = CustomerState()
        for facts in customer.recorded.shuffled(using: &random) {
            late.record(facts, catalog: PlayCustomer.catalog)
        }
        #expect(late.purchases == customer.state.purchases, "seed \(seed): order matters")
    }

    @Test("The same seed gives the same lives, down to every token, and another seed others")
    func same() throws {
        func answers(_ seed: UInt64) throws -> [String: JSON] {
            var random = SeededGenerator(seed: 8)
            var life = try PlayedLife(seed: seed)
            for _ in 0..<200 {
                _ = takeOne(&life, &random)
                life.advance(days: 3)
            }
            let tokens = life.world.standings(of: "u1").map {
                ($0.original, life.answer($0.original))
            }
            return Dictionary(tokens) { $1 }
        }
        let first = try answers(1)
        #expect(first.count > 3)
        #expect(try answers(1) == first)
        #expect(try Set(answers(2).keys).isDisjoint(with: first.keys))
    }

    private func takeOne(_ life: inout PlayedLife, _ random: inout SeededGenerator) -> Bool {
        let (act, products) = Self.acts[Int(random.next() % UInt64(Self.acts.count))]
        let product = products[Int(random.next() % UInt64(products.count))]
        var step = Step(act, customer: "u1", product: product)
        step.store = .google
        if [.pause, .postpone].contains(act) { step.days = 7 + Int64(random.next() % 30) }
        if [.buy, .change, .addOn, .topUp].contains(act), random.next() % 5 == 0 {
            step.pending = true
        }
        if act == .change, random.next() % 2 == 0 { step.when = .deferred }
        if act == .refund, random.next() % 3 == 0 { step.keepAccess = true }
        if act == .resubscribe, random.next() % 2 == 0 { step.inStore = true }
        var changed = life.world
        guard let outcome = try? changed.perform(step) else { return false }
        life.world = changed
        // Most apps acknowledge their purchases.
        if let token = outcome.transaction, random.next() % 5 != 0 { try? life.acknowledge(token) }
        return true
    }

    private func compare(
        _ life: PlayedLife, _ customer: inout PlayCustomer, _ seed: UInt64, _ seen: inout Seen
    ) throws {
        let (now, usable) = (life.world.now, life.usable)
        var answers: [String: JSON] = [:]
        for token in Set(life.world.standings(of: "u1").map(\.original)) {
            let answer = life.answer(token)
            answers[token] = answer
            if let state = answer["subscriptionState"]?.string { seen.states.insert(state) }
        }
        let read = PlainReader(answers: answers).usable(at: now)
        #expect(read == usable, "seed \(seed) at \(now.text)")
        let careless = PlainReader(answers: answers, readsLinks: false).usable(at: now)
        if careless != usable { seen.wrongWithoutLinks += 1 }
        try customer.read(answers, at: now)
        #expect(customer.usable(at: now) == life.usableUntil, "seed \(seed) at \(now.text)")
        #expect(customer.coins == life.coins, "seed \(seed) at \(now.text)")
    }
}
