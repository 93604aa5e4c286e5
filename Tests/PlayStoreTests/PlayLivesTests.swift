import Core
import Foundation
import Histories
import JSON
import Practice
import Service
import TestSupport
import Testing

@Suite("Nights and the customers of Google Play", .timeLimit(.minutes(60)))
struct PlayLivesTests {
    /// The number of customers, who live two years each.
    private static let lives = givenCount("DEED_LIVES", or: 12)

    @Test(
        "Nights alone bring customers to the store's books for two years, and a second finds nothing"
    )
    func twoYears() throws {
        let seed = printedSeed(of: "lives in Google Play and their nights")
        let lives = try PlayLives(Self.lives, seed: seed)
        var seen = (mended: Int64(0), taken: 0)
        for night in 0..<146 {
            seen.taken += try lives.pass(days: 5)
            let run = try lives.reconcile()
            #expect(run.isSound, "\(run.errors)")
            seen.mended += run.steps[.subscriptions]?.mended ?? 0
            var complaints = try lives.complaints()
            if !complaints.isEmpty {
                // What ended in these minutes is not overdue yet.
                try lives.wait(minutes: 6)
                _ = try lives.reconcile()
                complaints = try lives.complaints()
            }
            if !complaints.isEmpty {
                Issue.record("seed \(seed), night \(night): \(complaints.joined(separator: "\n"))")
                return
            }
            if night % 10 == 0 {
                let again = try lives.reconcile()
                #expect(
                    again.steps[.subscriptions]?.found ?? 0 == 0, "seed \(seed), night \(night)")
            }
        }
        print("\(Self.lives) lives: \(seen.taken) steps, \(seen.mended) purchases mended by nights")
        #expect(seen.taken > Self.lives * 20 && seen.mended > Self.lives)
    }
}

/// Customers of a practice store. Their apps submit each token when they get it, and report nothing else.
private final class PlayLives {
    private let machine = TestClock(at: machineInstant())
    private let store: PracticeStore
    private let server: PracticeServer
    private let shop: PlayShopfront
    private let customers: [String]
    private var random: SeededGenerator
    private var steps: [String: [String]] = [:]

    /// Acts that end nothing within a paid period. Only a notification could report such an end in time.
    private static let acts: [(Step.Act, [String?])] = [
        (.buy, ["pro:monthly", "pro:yearly", "pro:prepaid-month", "pro:instalments"]),
        (.buy, ["premium:monthly", "coins.100", "level2", "film"]),
        (.cancel, [nil, "sounds"]), (.resume, [nil]), (.pause, [nil]), (.hold, [nil]),
        (.recover, [nil]), (.failBilling, [nil]), (.fixBilling, [nil]), (.topUp, [nil]),
        (.addOn, ["sounds:monthly", "premium:monthly"]),
        (.change, ["pro:monthly", "pro:yearly", "premium:monthly"]), (.postpone, [nil]),
        (.approve, [nil]), (.decline, [nil]), (.resubscribe, [nil]), (.consent, [nil]),
    ]

    init(_ count: Int, seed: UInt64) throws {
        random = SeededGenerator(seed: seed)
        customers = (0..<count).map { "life-\($0)" }
        var sold = Shop.example
        sold.google?.quotaPercent = 1_000_000
        store = PracticeStore(
            PracticeWorld(sold, from: machine.now, seed: random.next()), authority: authority,
            account: account,
            port: PracticePort(now: machine.reading, send: { _, _ in "SUCCESS" }))
        server = try PracticeServer(store, listen: "127.0.0.1:0", now: machine.reading)
        shop = try PlayShopfront("http://127.0.0.1:\(server.port)", machine: machine)
    }

    deinit { server.stop() }

    /// Lets some customers act, and then lets time pass. Returns the number of steps that the store accepted.
    func pass(days: Int64) throws -> Int {
        var taken = 0
        for customer in customers where random.next() % 2 == 0 {
            // The store refuses steps that do not apply.
            for _ in 0..<6 where try step(customer) {
                taken += 1
                break
            }
        }
        try advance(to: shop.service.clock.now.advanced(byMilliseconds: days * 86_400_000))
        // The queue asks about unpaid purchases again.
        while try shop.work() != nil {}
        try advance(to: shop.service.clock.now)
        return taken
    }

    func wait(minutes: Int64) throws {
        try advance(to: shop.service.clock.now.advanced(byMilliseconds: minutes * 60_000))
    }

    private func advance(to instant: Instant) throws {
        let now = max(instant, store.read { $0.now })
        _ = try store.advance(to: now)
        for clock in [shop.service.clock, machine] {
            clock.advance(byMilliseconds: max(0, now.milliseconds - clock.now.milliseconds))
        }
    }

    private func step(_ customer: String) throws -> Bool {
        try advance(to: shop.service.clock.now)
        let (act, products) = Self.acts[Int(random.next() % UInt64(Self.acts.count))]
        var step = Step(
            act, customer: customer, product: products.randomElement(using: &random) ?? nil)
        step.store = .google
        if [.pause, .postpone].contains(act) { step.days = 7 + Int64(random.next() % 30) }
        if [.buy, .change, .addOn, .topUp].contains(act), random.next() % 5 == 0 {
            step.pending = true
        }
        if act == .change, random.next() % 2 == 0 { step.when = .deferred }
        if act == .resubscribe, random.next() % 2 == 0 { step.inStore = true }
        guard let outcome = try? store.performInPlay(step) else { return false }
        steps[customer, default: []].append(
            "\(store.read { $0.now }.text) \(act) \(step.product ?? "") \(outcome.token ?? "")")
        guard let token = outcome.token else { return true }
        let reply = shop.submit([token], of: customer)
        #expect([200, 202].contains(reply.status), "\(reply.text)")
        // The app acknowledges the purchase. The store refuses this if the purchase is unpaid.
        var finish = Step(.finish, customer: customer, product: nil)
        (finish.store, finish.transaction) = (.google, token)
        _ = try? store.performInPlay(finish)
        return true
    }

    func reconcile() throws -> ReconciliationFinished {
        var wish = ReconcileWish(project: try ProjectID("default"))
        wish.plan.steps = [.subscriptions]
        return try shop.service.reconcile(wish)
    }

    /// Returns the differences between Deed and the store's records.
    func complaints() throws -> [String] {
        try advance(to: shop.service.clock.now)
        let world = store.read { $0 }
        return try customers.compactMap { customer in
            let reply = shop.service.send(
                "GET", "/v1/customers/\(customer)?environment=sandbox", key: shop.backend)
            let told = try reply.json["entitlements"]?.object?.members ?? []
            let active = Set(told.filter { $0.value["active"]?.bool == true }.map(\.name))
            let held = world.standings(of: customer).filter(\.isActive)
            let usable = Set(held.map(\.product)).subtracting(["coins.100"])
            let coins = held.filter { $0.product == "coins.100" }.reduce(0) {
                $0 + 100 * ($1.quantity ?? 0)
            }
            let balance = try reply.json["balances"]?["coins"]?.integer ?? 0
            if active == usable, balance == coins { return nil }
            let answers = Set(world.standings(of: customer).map(\.original)).map {
                "\($0): \(world.playAnswer($0)?.text ?? "")"
            }
            return """
                \(customer) at \(world.now.text): \(active.sorted()) and \(balance) coins, not \
                \(usable.sorted()) and \(coins)
                \(steps[customer]?.joined(separator: "\n") ?? "")
                \(answers.sorted().joined(separator: "\n"))
                \(reply.text)
                """
        }
    }
}
