import AppStore
import Core
import Ledger
import TestSupport
import Testing

@Suite("The calls that all instances together may make to a store", .timeLimit(.minutes(20)))
struct BudgetTests {
    private let database: ScratchDatabase
    private let app: StoreApp
    private let start = Instant(milliseconds: 1_795_202_460_000)

    init() throws {
        database = try ScratchDatabase()
        app = StoreApp(
            project: try ProjectID("p"), key: AppKey(store: .apple, id: try AppID("com.example.a")))
    }

    /// Returns how many calls are left at an instant. Asks the instances in turn.
    private func left(
        _ ledgers: [Ledger], _ call: StoreCall, _ environment: Environment = .production,
        at now: Instant, of app: StoreApp? = nil
    ) throws -> Int {
        let turn = turn(call, environment, of: app)
        for count in 0..<2000 {
            let ledger = ledgers[count % ledgers.count]
            if let next = try ledger.takeStoreTurn(turn, now: now) {
                #expect(next > now)
                #expect(try ledger.takeStoreTurn(turn, now: next) == nil)
                return count
            }
        }
        return 2000
    }

    private func turn(
        _ call: StoreCall, _ environment: Environment = .production, of app: StoreApp? = nil
    ) -> StoreTurn {
        StoreTurn(app ?? self.app, in: environment, under: call.budget(in: environment))
    }

    @Test("Two instances share one budget, which fills again as time passes")
    func shared() throws {
        let ledgers = [database.ledger(), database.ledger()]
        defer { for ledger in ledgers { ledger.close() } }
        let many = try left(ledgers, .test, at: start)
        // Nine tenths of one call per second, for five minutes.
        #expect((269...272).contains(many), "\(many)")
        #expect(try left(ledgers, .test, at: start) == 0)
        let later = start.advanced(byMilliseconds: 60_000)
        #expect((52...55).contains(try left(ledgers, .test, at: later)))
    }

    @Test("Apps, environments and calls have budgets of their own")
    func apart() throws {
        let ledger = database.ledger()
        defer { ledger.close() }
        _ = try left([ledger], .test, at: start)
        let other = StoreApp(
            project: app.project, key: AppKey(store: .apple, id: try AppID("com.example.b")))
        #expect(try left([ledger], .test, at: start, of: other) > 5)
        #expect(try left([ledger], .extendAllResult(ProductID("a"), request: "r"), at: start) > 5)
        let sandbox = try left([ledger], .order("a"), .sandbox, at: start)
        // The sandbox allows a tenth of production's calls.
        #expect((269...272).contains(sandbox), "\(sandbox)")
    }

    @Test("If the store wants a pause, every instance observes it")
    func pause() throws {
        let (one, other) = (database.ledger(), database.ledger())
        defer {
            one.close()
            other.close()
        }
        let hour = start.advanced(byMilliseconds: 3_600_000)
        let id = try TransactionID("1")
        let histories = turn(.history(of: id))
        try one.restStore(histories, until: hour)
        // A shorter pause does not end a longer one.
        try one.restStore(histories, until: start)
        let next = try other.takeStoreTurn(histories, now: start)
        #expect(next.map { abs($0.milliseconds - hour.milliseconds) <= 1 } == true)
        #expect(try other.takeStoreTurn(turn(.standings(of: id)), now: start) == nil)
        let after = hour.advanced(byMilliseconds: 1)
        #expect(try other.takeStoreTurn(histories, now: after) == nil)
    }

    @Test(
        "Calls and pauses from the time when a clock was weeks ahead delay nothing once it is right"
    )
    func clockSetBack() throws {
        let ledger = database.ledger()
        defer { ledger.close() }
        let ahead = start.advanced(byMilliseconds: 40 * 86_400_000)
        let histories = turn(.history(of: try TransactionID("1")))
        _ = try left([ledger], .test, at: ahead)
        try ledger.restStore(histories, until: ahead.advanced(byMilliseconds: 3_600_000))
        let many = try left([ledger], .test, at: start)
        #expect((268...273).contains(many), "\(many)")
        #expect(try ledger.takeStoreTurn(histories, now: start) == nil)
        // A pause that the store asks for now replaces the one from then.
        try ledger.restStore(histories, until: start.advanced(byMilliseconds: 60_000))
        let next = try ledger.takeStoreTurn(histories, now: start)
        #expect(next.map { $0 <= start.advanced(byMilliseconds: 60_001) } == true)
    }
}
