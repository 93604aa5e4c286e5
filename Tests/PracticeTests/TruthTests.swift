import Core
import Evidence
import Histories
import JSON
import Practice
import Synchronization
import TestSupport
import Testing

@Suite("Deed's answers compared with the practice store's own records", .timeLimit(.minutes(20)))
struct TruthTests {
    @Test("Two hundred lives of two years agree at every boundary")
    func lives() async throws {
        let seed = printedSeed(of: "lives")
        let found = Findings()
        try await aside { live(seed, found) }
        #expect(found.complaints.withLock { $0 } == [])
        let states: Set = ["active", "grace", "retry", "ended", "revoked", "sold"]
        #expect(found.seen.withLock { $0 }.isSuperset(of: states), "seed \(seed)")
    }

    @Test("Every documented scenario agrees at every boundary", arguments: examples)
    func scenarios(_ file: String) throws {
        let scenario = try readExample(file)
        var world = PracticeWorld(.example, from: opening, seed: 5)
        let end = try world.plan(scenario)
        var comparisons: [String: Comparison] = [:]
        func compareAll() throws {
            for customer in world.customers {
                var comparison = try comparisons[customer] ?? Comparison(of: customer, file)
                try comparison.compare(world)
                comparisons[customer] = comparison
            }
        }
        while world.now < end {
            let due = min(world.nextDue ?? end, end)
            if due > world.now.advanced(byMilliseconds: 1) {
                _ = world.doNext(by: due.advanced(byMilliseconds: -1))
                try compareAll()
            }
            // Notifications change nothing, and have no address here.
            _ = world.doNext(by: due)
            try compareAll()
        }
        #expect(comparisons.values.flatMap(\.complaints) == [])
        #expect(comparisons.values.contains { $0.boundaries > 3 })
    }

    @Test(
        "Two changes at one instant, even that of a renewal, are reported one after another",
        arguments: [
            #"{"at":"5h","do":"refund"},{"at":"5h","do":"reverse"}"#,
            #"{"at":"5h","do":"cancel"},{"at":"5h","do":"resume"}"#,
            #"{"at":"5h","do":"extend","days":3},{"at":"5h","do":"extend","days":5}"#,
            #"{"at":"P1M","do":"refund"},{"at":"P1M","do":"reverse"},{"at":"P1M","do":"resume"}"#,
        ])
    func sameInstant(_ steps: String) throws {
        let text = """
            {"title":"t","until":"80d","lives":[{"customer":"c1","steps":[
                {"at":"0d","do":"buy","product":"pro.month"},\(steps)]}]}
            """
        var shop = Shop.example
        shop.app.notificationURL = "http://127.0.0.1:1/"
        let practised = PractisedStore(PracticeWorld(shop, from: opening, seed: 6))
        let scenario = try Scenario(Array(text.utf8))
        let end = try practised.store.change { world throws(PracticeError) in
            try world.plan(scenario)
        }
        var comparison = try Comparison(of: "c1", steps)
        for target in [opening.days(1), opening.days(40), end] {
            let events = try practised.store.advance(to: target)
            #expect(!events.contains { $0.text.contains("was refused") })
            try practised.store.read { try comparison.compare($0) }
        }
        #expect(comparison.complaints == [])
        let instants = try practised.posts.map { post in
            try payload(of: JSON.read(post.body)["signedPayload"]?.string ?? "")["signedDate"]?
                .integer
        }
        #expect(Set(instants).count == instants.count)
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
                    found.seen.withLock { $0.formUnion(life.comparison.seen) }
                    found.complaints.withLock { $0 += life.comparison.complaints.prefix(3) }
                } catch {
                    found.complaints.withLock {
                        $0.append("life \(number) of seed \(seed): \(error)")
                    }
                }
            }
        }
    }
}

extension PracticeWorld {
    /// When the store will next act on a subscription by itself.
    fileprivate var nextRenewalInstant: Instant? {
        subscriptions.values.filter(\.isServing).map { $0.graceUntil ?? $0.ends }.min()
    }
}

/// Two years of one customer, generated from a seed and compared step by step.
private struct RandomLife {
    private let seed: UInt64
    private var random: SeededGenerator
    private var world: PracticeWorld
    private(set) var comparison: Comparison
    private let end: Instant
    private let customer = "c1"

    init(seed: UInt64) throws {
        self.seed = seed
        random = SeededGenerator(seed: seed)
        // With an address, notifications are due at the same instants as changes.
        var shop = Shop.example
        shop.app.notificationURL = "http://127.0.0.1:1/"
        world = PracticeWorld(shop, from: opening, seed: seed)
        comparison = try Comparison(of: "c1", "life \(seed)")
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
                doNext(by: due)
            } else {
                try pass(to: due)
                if due == next {
                    act()
                    while random.chance(25) { act() }
                    let someTime = world.now.advanced(byMilliseconds: random.number(1...40 * day))
                    next = random.chance(20) ? world.nextRenewalInstant ?? someTime : someTime
                }
            }
            try comparison.compare(world)
        }
    }

    private mutating func doNext(by limit: Instant) {
        if case .post(let index) = world.doNext(by: limit) { world.record("SUCCESS", of: index) }
    }

    private mutating func pass(to instant: Instant) throws {
        doNext(by: instant)
        try comparison.compare(world)
    }

    /// Takes one random step. The store may refuse it.
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
}
