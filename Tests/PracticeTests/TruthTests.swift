import Core
import Evidence
import Histories
import JSON
import Practice
import Synchronization
import TestSupport
import Testing

@Suite("Deed's answers beside the practice store's own books", .timeLimit(.minutes(10)))
struct TruthTests {
    @Test("Two hundred lives of two years are told alike at every boundary")
    func lives() async throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("seed of lives: \(seed)")
        let found = Findings()
        try await aside { live(seed, found) }
        #expect(found.complaints.withLock { $0 } == [])
        let states: Set = ["active", "grace", "retry", "ended", "revoked", "sold"]
        #expect(found.seen.withLock { $0 }.isSuperset(of: states), "seed \(seed)")
    }

    private final class Findings: Sendable {
        let seen = Mutex<Set<String>>([])
        let complaints = Mutex<[String]>([])
    }

    private func live(_ seed: UInt64, _ found: Findings) {
        inParallel(2) { lane in
            for number in stride(from: lane, to: 200, by: 2) {
                do {
                    var life = try RandomLife(seed: seed &+ UInt64(number))
                    try life.run()
                    found.seen.withLock { $0.formUnion(life.seen) }
                    found.complaints.withLock { $0 += life.complaints.prefix(3) }
                } catch {
                    found.complaints.withLock {
                        $0.append("life \(number) of seed \(seed): \(error)")
                    }
                }
            }
        }
    }
}

/// One customer's two years, made up by a seed and compared as they pass.
private struct RandomLife {
    private let seed: UInt64
    private var random: SeededGenerator
    private var world: PracticeWorld
    private var judge: Judge
    private let end: Instant
    private let customer = "c1"
    private var boundaries = 0
    /// What Deed tells otherwise than the store's books.
    private(set) var complaints: [String] = []
    /// The states that its purchases were in.
    private(set) var seen: Set<String> = []

    init(seed: UInt64) throws {
        self.seed = seed
        random = SeededGenerator(seed: seed)
        world = PracticeWorld(.example, from: opening, seed: seed)
        judge = try Judge()
        end = opening.days(731)
    }

    mutating func run() throws {
        var next = opening
        while world.now < end {
            let due = [world.nextDue, next, end].compactMap(\.self).min() ?? end
            if due > world.now.advanced(byMilliseconds: 1) {
                try pass(to: due.advanced(byMilliseconds: -1))
            }
            if world.nextDue.map({ $0 <= due }) ?? false {
                _ = world.doNext(by: due)
            } else {
                try pass(to: due)
                if due == next {
                    act()
                    next = world.now.advanced(byMilliseconds: random.number(1...40 * day))
                }
            }
            try compare()
        }
        check(boundaries > 10, "it has no life")
    }

    private mutating func pass(to instant: Instant) throws {
        _ = world.doNext(by: instant)
        try compare()
    }

    /// One step at random; the store refuses those that make no sense.
    private mutating func act() {
        let renewing = Shop.example.products.filter { $0.kind == .autoRenewable }.map(\.id)
        let acts: [(Step.Act, Int)] = [
            (.buy, 30), (.cancel, 8), (.resume, 5), (.change, 12), (.refund, 8), (.reverse, 5),
            (.failBilling, 8), (.fixBilling, 12), (.extend, 5), (.raisePrice, 2), (.consent, 2),
            (.requestRefund, 2), (.declineRefund, 1),
        ]
        var pick = Int.random(in: 0..<100, using: &random)
        guard
            let act = acts.first(where: { (_, weight) in
                pick -= weight
                return pick < 0
            })?.0
        else { return }
        var step = Step(act, customer: customer)
        switch act {
        case .buy:
            step.product = Shop.example.products.randomElement(using: &random)?.id
            step.quantity = random.number(1...5)
            let offers = step.product.flatMap(Shop.example.article)?.offers
            if random.chance(40) { step.offer = offers?.randomElement(using: &random)?.id }
        case .change: step.product = renewing.randomElement(using: &random)
        case .refund:
            step.percent = [nil, 100, 50, 25].randomElement(using: &random) ?? nil
            step.forApp = random.chance(50)
        case .extend: step.days = random.number(1...90)
        case .raisePrice:
            step.product = renewing.randomElement(using: &random)
            step.price = random.number(10_000...1_000_000)
            step.needsConsent = random.chance(50)
        default: break
        }
        _ = try? world.perform(step)
    }

    /// Everything that the store's books say now, beside what Deed derives.
    private mutating func compare() throws {
        try judge.takeNotifications(of: world, about: customer)
        boundaries += 1
        let now = world.now
        let known = judge.state.subscriptions(at: now, catalog: judge.catalog)
        for standing in world.standings(of: customer) {
            seen.insert(standing.word)
            guard Shop.example.article(standing.product)?.kind == .autoRenewable else { continue }
            let status = known.first { $0.purchase.original.text == standing.original }
            let pair = "\(standing) beside \(status.map { "\($0)" } ?? "nothing")"
            check(status?.isActive == standing.isActive, pair)
            if standing.isActive { check(status?.run.end == standing.until, pair) }
        }
        try compareOthers(now)
    }

    private mutating func compareOthers(_ now: Instant) throws {
        let sales = world.sales(of: customer).filter { $0.kind != .autoRenewable }
        let answer = judge.state.entitlements(at: now, catalog: judge.catalog)
        let hasMap = sales.contains { $0.kind == .nonConsumable && $0.revocation == nil }
        check((answer[try EntitlementID("level2")]?.isActive ?? false) == hasMap, "level2")
        let hasSeason = sales.contains { sale in
            guard sale.kind == .nonRenewing, sale.revocation == nil else { return false }
            let ends = CalendarDuration("P3M")?.end(after: sale.purchased) ?? sale.purchased
            return now < ends
        }
        check((answer[try EntitlementID("season")]?.isActive ?? false) == hasSeason, "season")
        var coins: Int64 = 0
        for sale in sales where sale.kind == .consumable {
            let whole = 100 * sale.quantity
            let share = sale.revocation.map { $0.milliPercent ?? 100_000 } ?? 0
            coins += whole - whole * share / 100_000
        }
        check(judge.state.balances[try CurrencyID("coins")] == coins, "coins")
    }

    private mutating func check(_ isRight: Bool, _ text: String) {
        if !isRight { complaints.append("life \(seed) at \(world.now.text): \(text)") }
    }
}
