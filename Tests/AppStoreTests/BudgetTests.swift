import Core
import Ledger
import TestSupport
import Testing

@Suite("What all instances together may ask of a store", .timeLimit(.minutes(10)))
struct BudgetTests {
    private let database: ScratchDatabase
    private let app: StoreApp
    private let start = Instant(milliseconds: 1_795_202_460_000)

    init() throws {
        database = try ScratchDatabase()
        app = StoreApp(
            project: try ProjectID("p"), key: AppKey(store: .apple, id: try AppID("com.example.a")))
    }

    /// How many calls are left at an instant, asked of several instances in turn.
    private func left(
        _ ledgers: [Ledger], _ endpoint: StoreEndpoint, _ environment: Environment = .production,
        at now: Instant, of app: StoreApp? = nil
    ) throws -> Int {
        for count in 0..<2000 {
            let ledger = ledgers[count % ledgers.count]
            let next = try ledger.takeStoreBudget(
                app ?? self.app, environment, endpoint, now: now)
            if let next {
                #expect(next > now)
                #expect(
                    try ledger.takeStoreBudget(
                        app ?? self.app, environment, endpoint, now: next) == nil)
                return count
            }
        }
        return 2000
    }

    @Test("Two instances share one budget, which fills again as time passes")
    func shared() throws {
        let ledgers = [database.ledger(), database.ledger()]
        defer { for ledger in ledgers { ledger.close() } }
        let many = try left(ledgers, .test, at: start)
        // Five minutes' worth at nine tenths of one call a second.
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
        #expect(try left([ledger], .extendAll, at: start) > 5)
        let sandbox = try left([ledger], .order, .sandbox, at: start)
        // A tenth of what production has.
        #expect((269...272).contains(sandbox), "\(sandbox)")
    }

    @Test("When the store wants a pause, every instance keeps it")
    func pause() throws {
        let (one, other) = (database.ledger(), database.ledger())
        defer {
            one.close()
            other.close()
        }
        let hour = start.advanced(byMilliseconds: 3_600_000)
        try one.restStore(app, .production, .history, until: hour)
        // A shorter pause does not end a longer one.
        try one.restStore(app, .production, .history, until: start)
        let next = try other.takeStoreBudget(app, .production, .history, now: start)
        #expect(next.map { abs($0.milliseconds - hour.milliseconds) <= 1 } == true)
        #expect(try other.takeStoreBudget(app, .production, .statuses, now: start) == nil)
        let after = hour.advanced(byMilliseconds: 1)
        #expect(try other.takeStoreBudget(app, .production, .history, now: after) == nil)
    }
}
