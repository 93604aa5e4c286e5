import Core
import Histories
import Postgres
import SQL
import Service
import Synchronization
import TestSupport
import Testing

@testable import Ledger

@Suite("Looks for boundaries that do not begin at the beginning")
struct PublishedInstantsTests {
    private let shard = Shard(number: 3)

    private func at(_ milliseconds: Int64) -> Instant { Instant(milliseconds: milliseconds) }

    @Test("A look passes what lies before the first boundary and before the last commit")
    func passed() {
        let instants = PublishedInstants()
        instants.note([(shard, at(50), at(90))], by: instants.begin())
        #expect(instants.passed(shard) == 49)
        // All boundaries until then have been published.
        instants.note([(shard, at(200), at(100))], by: instants.begin())
        #expect(instants.passed(shard) == 100)
        instants.note([(shard, nil, at(120))], by: instants.begin())
        #expect(instants.passed(shard) == 120)
        // An older snapshot does not move the instant back.
        instants.note([(shard, at(60), at(95))], by: instants.begin())
        #expect(instants.passed(shard) == 120)
        #expect(instants.passed(Shard(number: 4)) == .min)
    }

    @Test("After an hour and after a new connection, a look begins at the beginning")
    func whole() {
        let time = Mutex<Int64>(0)
        let instants = PublishedInstants { time.withLock { $0 } }
        func isWhole() -> Bool { instants.begin().passed.allSatisfy { $0 == .min } }
        #expect(isWhole())
        instants.note([(shard, at(50), at(90))], by: instants.begin())
        #expect(!isWhole())
        time.withLock { $0 = 3_600_000 }
        #expect(isWhole())
        // Something other than a commit has added this earlier instant, and a complete look finds it.
        instants.note([(shard, at(20), at(90))], by: instants.begin())
        #expect(instants.passed(shard) == 19 && !isWhole())
        let before = instants.begin()
        instants.forget()
        // This look began before the log was replaced.
        instants.note([(shard, at(500), at(900))], by: before)
        #expect(instants.passed(shard) == .min && isWhole())
    }

    @Test("Under a snapshot of long ago, a look for boundaries walks over none that have passed")
    func passedBoundaries() throws {
        let database = try ScratchDatabase()
        let ledger = database.ledger()
        _ = try ledger.append(.give("pro", to: .test("u"), grant: "g1"))
        ledger.close()
        try database.run(
            """
            set statement_timeout = '5min';
            insert into deed.customers
            select (jsonb_populate_record(c, jsonb_build_object(
                'shard', n % 64, 'customer', 'c' || n, 'next_boundary_at', 1000 + n))).*
            from deed.customers as c, generate_series(0, 63999) as n where c.customer = 'u';
            update deed.shards set recorded_at = 100000;
            analyze deed.customers
            """)
        // Holds a snapshot, as pg_dump may do for an hour.
        var old = try Connection.open(database.settings())
        try old.run(
            Script(
                embedded: Array(
                    "begin isolation level repeatable read; select 1 from deed.customers limit 1"
                        .utf8)))
        try database.run(
            """
            set statement_timeout = '5min';
            update deed.customers set next_boundary_at = 200000
            """)
        var connection = try Connection.open(database.settings())
        func pages(after passed: Int64) throws -> Int {
            let query = Statement.findNextBoundary.text(in: "deed")
                .replacing(
                    "$1::smallint[]", with: "(select array_agg(n::smallint) from \(Self.shards))"
                )
                .replacing(
                    "$2::bigint[]",
                    with: "(select array_agg(\(passed)::bigint) from \(Self.shards))")
            var plan = ""
            let statement = Statement(embedded: Array("explain (analyze, buffers) \(query)".utf8))
            try connection.run([statement()]) { _, rows in
                for row in 0..<rows.count { plan += rows.text(row, 0) + "\n" }
            }
            let total = try #require(
                plan.firstMatch(of: /Buffers: shared hit=(\d+)(?: read=(\d+))?/), "\(plan)")
            return (Int(total.1) ?? 0) + (total.2.flatMap { Int($0) } ?? 0)
        }
        #expect(try pages(after: .min + 1) > 30_000)
        #expect(try pages(after: 100_000) < 64 * 20)
        // A new ledger learns enough to read few pages, and still finds all due shards.
        let other = database.ledger()
        defer { other.close() }
        for _ in 1...3 {
            let due = try other.dueShards()
            #expect(due.count == 64 && due.allSatisfy { $0.at.milliseconds == 200_000 })
        }
        for shard in Shard.all { #expect(other.published.passed(shard) == 100_000) }
        try old.run(Script(embedded: Array("commit".utf8)))
    }
    private static let shards = "generate_series(0, 63) as n"

    /// Two instances whose clocks differ and sometimes run backwards make changes that move
    /// boundaries back and forth.
    @Test(
        "Whatever clocks, catalogs and instances do, no look misses a boundary",
        .timeLimit(.minutes(20)))
    func everyBoundary() throws {
        let database = try ScratchDatabase()
        let clocks = [TestClock(), TestClock()]
        let ledgers = clocks.map { database.ledger(clock: $0.reading) }
        defer { for ledger in ledgers { ledger.close() } }
        _ = try ledgers[0].append(
            .project(
                id("default"), actor: id("test"),
                cause: Cause(text: "create", digest: [UInt8](repeating: 0, count: 32))
            ) { _, _ in [.projectCreated(ProjectCreated(project: id("default")))] })
        var random = SeededGenerator(seed: printedSeed(of: "looks for boundaries"))
        let start = clocks[0].now
        var catalogs: Int64 = 0
        for step in 0..<300 {
            let place = Int.random(in: 0...1, using: &random)
            let (clock, ledger) = (clocks[place], ledgers[place])
            switch Int.random(in: 0...5, using: &random) {
            case 0, 1, 2:
                let end = clock.now.advanced(
                    byMilliseconds: Int64.random(in: 1...3000, using: &random))
                let wish = GiveGrant(
                    grant: id("g\(step)"), entitlement: id("e\(step % 7)"),
                    time: .from(nil, until: .at(end)), reason: id("test"), ticket: nil)
                let cause = Cause(
                    text: "key:\(step)", digest: [UInt8](repeating: 0, count: 32))
                let customer = "u\(Int.random(in: 0...30, using: &random))"
                // Deed refuses an end that is before the log's own time.
                _ = try? ledger.append(
                    .customer(.test(customer), actor: id("test"), cause: cause) {
                        state, catalog, now throws(Refusal) in
                        try state.decide(wish, by: catalog, now: now)
                    })
            case 3: clock.advance(byMilliseconds: Int64.random(in: -900...1500, using: &random))
            case 4: _ = try ledger.publishBoundaries()
            default: try change(&catalogs, by: ledger)
            }
            try expectSame(ledgers, database, "step \(step)")
        }
        for clock in clocks { clock.advance(byMilliseconds: 60_000) }
        #expect(start < clocks[0].now)
        for ledger in ledgers { _ = try ledger.publishBoundaries() }
        try expectSame(ledgers, database, "the end")
        #expect(try ledgers[1].dueShards().isEmpty)
    }

    /// Turns announcements of ends on or off, which moves the next boundaries of all customers.
    private func change(_ catalogs: inout Int64, by ledger: Ledger) throws {
        catalogs += 1
        let version = catalogs
        var draft = CatalogDraft()
        for number in 0..<7 { draft.entitlementTitles[id("e\(number)")] = "e" }
        if version % 2 == 1 {
            for number in 0..<7 { draft.endingSoon[id("e\(number)")] = duration("PT2S") }
        }
        let catalog = try draft.validated()
        _ = try ledger.append(
            .project(
                id("default"), actor: id("test"),
                cause: Cause(
                    text: "catalog \(version)", digest: [UInt8](repeating: 0, count: 32))
            ) { _, _ in [.catalogChanged(CatalogChanged(version: version, catalog: catalog))] })
        var faults: [Fault] = []
        _ = try ledger.reproject { faults.append($1) }
        #expect(faults.isEmpty)
    }

    /// Expects each instance to find the same boundaries as a search of all rows.
    private func expectSame(
        _ ledgers: [Ledger], _ database: ScratchDatabase, _ moment: String
    ) throws {
        let all = try database.text(
            """
            select coalesce(string_agg(shard || ':' || at, ' ' order by shard), '') from (
                select shard, min(next_boundary_at) as at from deed.customers
                where next_boundary_at is not null group by shard
            ) as due
            """)
        for ledger in ledgers {
            let found = try ledger.dueShards().sorted { $0.shard < $1.shard }
                .map { "\($0.shard.number):\($0.at.milliseconds)" }.joined(separator: " ")
            #expect(found == all, "\(moment)")
        }
    }
}
