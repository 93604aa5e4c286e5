import Core
import Ledger
import Synchronization
import Telemetry
import TestSupport
import Testing

@testable import Jobs

@Suite("The job that forgets", .timeLimit(.minutes(20)))
struct ForgettingJobTests {
    private static let count: Int64 = 2200
    private let database: ScratchDatabase
    private let clock = TestClock()
    private let logged = LoggedLines()
    private let metrics = Metrics()

    init() throws {
        database = try ScratchDatabase()
        // This evidence arrived two years ago, one piece per millisecond.
        try database.run(
            """
            insert into deed.evidence
            select sha256(n::text::bytea), 'default', 'production', 'notification', 'com.example.game', 0,
                \(clock.now.milliseconds) - 63072000000 + n, 'believed', 'content', '', ''
            from generate_series(1, \(Self.count)) as n;
            insert into deed.store_budgets select 'p', 'apple', 'a' || n, 'production', 'e', 1, 1
            from generate_series(1, 700) as n
            """)
    }

    private func job(_ ledger: Ledger, after age: CalendarDuration? = .days(400)) throws -> Job {
        let forgetting = Forgetting(
            ledger, after: age, machineClock: clock.reading, log: logged.log, metrics: metrics)
        return try #require(forgetting.all.first { $0.name == "forgetting" })
    }

    private func run(_ job: Job, while goesOn: @escaping @Sendable () -> Bool = { true }) throws {
        _ = try job.work(Run(startedAt: clock.now, lease: nil, isWanted: goesOn))
    }

    private var left: Int64 {
        get throws { try database.number("select count(*) from deed.evidence") }
    }

    /// Returns the value of a metric.
    private func counted(_ what: String) -> Int64 {
        let name = #"deed_forgotten_total{what="\#(what)"} "#
        let lines = metrics.text().split(separator: "\n").filter { $0.hasPrefix(name) }
        return lines.compactMap { Int64($0.dropFirst(name.count)) }.reduce(0, +)
    }

    @Test("Stopped between two pages, it continues at the next run, and says what went")
    func stopped() throws {
        let ledger = database.ledger(clock: clock.reading)
        defer { ledger.close() }
        let looks = Atomic(0)
        // Enough for the rows of each kind and for a part of the evidence.
        let enough = OldRows.allCases.count + 4
        try run(try job(ledger)) { looks.add(1, ordering: .relaxed).newValue <= enough }
        let half = try left
        #expect((1..<Self.count).contains(half))
        let place = try ledger.evidenceForgottenUntil()
        #expect(place > .distantPast)
        // Deed does not examine evidence before this position again.
        let again = database.ledger(clock: clock.reading)
        defer { again.close() }
        try run(try job(again))
        #expect(try left == 0)
        #expect(try again.evidenceForgottenUntil() > place)
        #expect(counted("evidence") == Self.count && counted("budgets") == 700)
        #expect(counted("leases") == 0 && counted("quarantined") == 0)
        #expect(
            logged.all.contains {
                $0.contains(#""event":"forgotten","what":"budgets","count":700"#)
            }, "\(logged.all)")
    }

    @Test("Nothing goes before its age")
    func young() throws {
        let ledger = database.ledger(clock: clock.reading)
        defer { ledger.close() }
        try run(try job(ledger, after: .days(731)))
        #expect(try left == Self.count)
        // With this age, the limit would be earlier than any date.
        let age: CalendarDuration = try #require(CalendarDuration("P9999999Y"))
        try run(try job(ledger, after: age))
        #expect(try left == Self.count)
        #expect(try database.number("select count(*) from deed.store_budgets") == 0)
    }

    @Test("Refused calls, attempts and replays go at their own ages, even if no others follow")
    func ownAges() throws {
        let ledger = database.ledger(clock: clock.reading)
        defer { ledger.close() }
        let tables = ["refused_calls", "webhook_attempts", "webhook_replays"]
        func rows() throws -> [Int64] {
            try tables.map { try database.number("select count(*) from deed.\($0)") }
        }
        let now = clock.now.milliseconds
        try database.run(
            """
            insert into deed.projects (project, created_at) values ('p', 0), ('q', 0);
            insert into deed.webhook_places (project, webhook, cursor) values ('p', 'wh_1', 'x');
            insert into deed.webhook_attempts
                (project, webhook, number, message, type, customer, attempt, at, milliseconds, answer)
                select 'p', 'wh_1', n, 'm', 'grant.given', 'u1', 1, \(now), 1, '' from generate_series(1, 700) as n;
            insert into deed.webhook_replays (project, webhook, replay, digest, asked_at, is_over)
                values ('p', 'wh_1', 'rp_1', '', \(now), true), ('p', 'wh_1', 'rp_2', '', \(now), false)
            """)
        for project in ["p", "q"] {
            let calls = try (1...600).map { number in
                var call = RefusedCall(
                    project: try ProjectID(project), at: clock.now, id: "r\(number)",
                    key: try KeyID("k_1"), call: "GET /v1/settings", status: 403,
                    code: "role_insufficient")
                call.customer = try CustomerID("u1")
                return call
            }
            try ledger.note(calls)
        }
        // This age concerns other data.
        let forgetting = try job(ledger, after: nil)
        try run(forgetting)
        #expect(try rows() == [1200, 700, 2])
        clock.advance(byMilliseconds: 8 * 86_400_000)
        try run(forgetting)
        #expect(try rows() == [1200, 0, 1])
        clock.advance(byMilliseconds: 83 * 86_400_000)
        try run(forgetting)
        #expect(try rows() == [0, 0, 1])
        #expect(counted("refused_calls") == 1200 && counted("webhook_attempts") == 700)
        #expect(try left == Self.count)
    }

    @Test("Two instances may do it at once: neither fails, and all of it goes")
    func twice() throws {
        let (one, other) = (
            database.ledger(clock: clock.reading), database.ledger(clock: clock.reading)
        )
        let faults = Mutex<[String]>([])
        inParallel(2) { lane in
            do {
                try run(try job(lane == 0 ? one : other))
            } catch {
                faults.withLock { $0.append("\(error)") }
            }
        }
        #expect(faults.withLock { $0 } == [])
        try run(try job(one))
        one.close()
        other.close()
        #expect(try left == 0)
    }
}
