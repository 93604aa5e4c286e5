import Core
import Histories
import Ledger
import Postgres
import Synchronization
import TestSupport
import Testing

/// Tests which old data is deleted, and which is kept.
@Suite("Forgetting by age", .timeLimit(.minutes(20)))
struct ForgettingTests {
    private let database: ScratchDatabase
    private let ledger: Ledger
    /// 2025-01-01T00:00:00Z. Data from that day is old.
    private static let old = Instant(milliseconds: 1_735_689_600_000)
    /// One year after `old`. Data that was last used before this instant is deleted.
    private static let end = Instant(milliseconds: 1_767_225_600_000)
    private static let now = "(extract(epoch from now()) * 1000)::bigint"

    init() throws {
        database = try ScratchDatabase()
        ledger = database.ledger(clock: { Self.old })
    }

    private func count(_ table: String, _ condition: String = "true") throws -> Int64 {
        try database.number("select count(*) from deed.\(table) where \(condition)")
    }

    /// Adds notifications that no event refers to, one per millisecond.
    private func file(_ range: ClosedRange<Int>, from instant: String? = nil) throws {
        try database.run(
            """
            insert into deed.evidence
            select sha256(n::text::bytea), 'default', 'production', 'notification', 'com.example.game', 0,
                \(instant ?? "\(Self.old.milliseconds)") + n, 'believed', 'content', '', ''
            from generate_series(\(range.lowerBound), \(range.upperBound)) as n;
            insert into deed.evidence_names
            select 'default', 'production', 'apple', n::text, sha256(n::text::bytea)
            from generate_series(\(range.lowerBound), \(range.upperBound)) as n
            """)
    }

    /// Records a purchase whose event refers to the evidence with that number.
    private func buy(_ number: Int, by ledger: Ledger? = nil) throws {
        let name = "\(number)"
        let fact = try TransactionFact.bought(
            "level2", .nonConsumable, transaction: name, at: Self.old)
        let submission = Submission(
            [.init(index: 0, facts: facts([fact]))], by: .customer(id("u\(number)")))
        let cause = Cause(text: "key:\(name)", digest: [UInt8](repeating: 0, count: 32))
        var command = Command(stream: try .test("u\(number)"), actor: id("test"), cause: cause) {
            situation throws(Refusal) in try submission.decide(situation)
        }
        command.purchases = submission.purchases
        command.evidence = [
            EvidenceRecord(
                digest: digest(of: name), kind: "notification", app: fact.app,
                signedAt: Self.old, content: [1], certificates: [], isKeptAlways: true)
        ]
        _ = try (ledger ?? self.ledger).append(command)
    }

    private func digest(of text: String) -> [UInt8] {
        let hex = try? database.text("select encode(sha256('\(text)'), 'hex')")
        return [UInt8](hexText: hex ?? "")
    }

    /// Forgets all evidence that may be forgotten. Returns the number of deleted pieces.
    private func forgetAll(by ledger: Ledger? = nil) throws -> Int64 {
        let ledger = ledger ?? self.ledger
        var gone: Int64 = 0
        var place = try ledger.evidenceForgottenUntil()
        while case .passed(let reached, let count) = try ledger.forgetEvidence(
            after: place, before: Self.end)
        {
            #expect(reached > place)
            place = reached
            gone += count
            try ledger.noteEvidenceForgotten(until: reached)
        }
        return gone
    }

    @Test("Evidence of other kinds stays, and so does what a quarantined event rests on")
    func kept() throws {
        try file(1...4)
        try database.run(
            """
            alter table deed.evidence disable trigger all;
            update deed.evidence set kind = 'app_receipt' where digest = sha256('2');
            update deed.evidence set kind = 'transaction' where digest = sha256('3')
            """)
        try buy(9)
        try database.run(
            """
            insert into deed.quarantined_events
            select q.* from deed.events as e cross join lateral jsonb_populate_record(
                null::deed.quarantined_events, to_jsonb(e) || jsonb_build_object(
                    'evidence', sha256('4'), 'head', 0, 'quarantined_at', \(Self.now), 'quarantined_by', 'test')
            ) as q limit 1
            """)
        #expect(try forgetAll() == 1)
        for stays in 2...4 { #expect(try count("evidence", "digest = sha256('\(stays)')") == 1) }
    }

    @Test("Old evidence goes on which no event rests, with its names; everything else stays")
    func evidence() throws {
        defer { ledger.close() }
        for number in 1...3 { try buy(number) }
        try file(1001...2700)
        try file(5001...5010, from: Self.now)
        try database.run(
            "update deed.evidence set content = null where digest = sha256('1500'::bytea)")
        // Gives many pieces of evidence the same instant.
        try database.run(
            """
            update deed.evidence set first_seen_at = \(Self.old.milliseconds) + 1100
            where first_seen_at between \(Self.old.milliseconds) + 1100
                and \(Self.old.milliseconds) + 1900
            """)
        #expect(try forgetAll() == 1699)
        #expect(try count("evidence") == 3 + 1 + 10)
        #expect(try count("evidence", "content is null") == 1)
        #expect(
            try count(
                "events",
                """
                evidence is not null and not exists (
                    select from deed.evidence as v where v.digest = events.evidence)
                """) == 0)
        #expect(try count("evidence_names") == 1 + 10)
        // Deed does not examine evidence twice, but it examines evidence that becomes old later.
        #expect(try forgetAll() == 0)
        try file(3000...3009)
        #expect(try forgetAll() == 10)
    }

    @Test("Evidence that comes again after it was forgotten is filed anew, with its events")
    func again() throws {
        defer { ledger.close() }
        try file(7...7)
        #expect(try forgetAll() == 1)
        try buy(7)
        #expect(try count("events", "evidence = sha256('7')") == 1)
        #expect(try count("evidence", "digest = sha256('7')") == 1)
        try database.run("delete from deed.last_done")
        #expect(try forgetAll() == 0)
    }

    @Test("Evidence stays while a commit under way may rest on it, and afterwards if it does")
    func underWay() throws {
        defer { ledger.close() }
        try file(7...7)
        var other = try Connection.open(database.settings())
        func run(_ text: String) throws { try other.run(Script(embedded: Array(text.utf8))) }
        // Like a commit, adds only evidence that is not there yet.
        try run(
            """
            begin;
            insert into deed.evidence select * from deed.evidence on conflict (digest) do nothing
            """)
        let place = Instant.distantPast
        #expect(try ledger.forgetEvidence(after: place, before: Self.end) == .busy)
        #expect(try count("evidence") == 1)
        try run(
            """
            insert into deed.events select s.shard, s.head + 1, 'default', 'production', 'u7', 1, 'purchase.made',
                '{}', sha256('1'), sha256('1'), 0, 0, 'test', 'test', 0, sha256('1'), 0, sha256('7'), 1
            from deed.shards as s where s.shard = 0;
            commit
            """)
        #expect(
            try ledger.forgetEvidence(after: place, before: Self.end)
                == .passed(Self.old.advanced(byMilliseconds: 7), gone: 0))
        #expect(try count("evidence") == 1)
    }

    @Test("Purchases whose evidence is being forgotten lose none of it, by any number of processes")
    func race() throws {
        try file(1...600)
        let (one, other) = (database.ledger(clock: { Self.old }), ledger)
        let failed = Failures()
        inParallel(4) { lane in
            do {
                if lane < 2 {
                    for number in stride(from: 1 + lane, to: 300, by: 2) {
                        try buy(number, by: lane == 0 ? one : other)
                    }
                    return
                }
                for _ in 0..<20 {
                    try database.run("delete from deed.last_done")
                    _ = try forgetAll(by: lane == 2 ? one : other)
                }
            } catch {
                failed.add("\(error)")
            }
        }
        #expect(failed.all == [])
        _ = try forgetAll()
        one.close()
        ledger.close()
        #expect(try count("events", "type = 'purchase.made' and evidence is not null") == 299)
        #expect(
            try count(
                "events",
                """
                evidence is not null and not exists (
                    select from deed.evidence as v where v.digest = events.evidence)
                """) == 0)
    }

    @Test("A dump under way neither waits nor loses what goes meanwhile")
    func besideDump() throws {
        defer { ledger.close() }
        try file(1...700)
        var dump = try Connection.open(database.settings())
        func evidence() throws -> Int64 {
            var found: Int64 = 0
            let count = Statement(embedded: Array("select count(*) from deed.evidence".utf8))
            try dump.run([count()]) { _, rows in found = rows.int8(0, 0) }
            return found
        }
        let begin = """
            begin isolation level repeatable read;
            lock table deed.evidence in access share mode
            """
        try dump.run(Script(embedded: Array(begin.utf8)))
        #expect(try evidence() == 700)
        #expect(try forgetAll() == 700)
        #expect(try evidence() == 700)
        try dump.run(Script(embedded: Array("commit".utf8)))
        #expect(try evidence() == 0)
    }

    @Test("The service's login cannot delete young evidence, or any by other ways")
    func rights() throws {
        defer { ledger.close() }
        try file(1...10, from: Self.now)
        try database.run(
            """
            insert into deed.quarantined_events select s.shard, 9, 'default', 'production', 'u7', 1, 'a.b', '{}',
                sha256('1'), sha256('1'), 0, 0, 'test', 'test', 0, sha256('1'), 0, null, 1, 8, \(Self.now), 'x'
            from deed.shards as s where s.shard = 0
            """)
        let service = LedgerSettings.serviceRole
        let all = "9223372036854775807"
        try database.run("select deed.forget_evidence(-1, \(all), 1000)", role: service)
        try database.run("select deed.forget_quarantined(\(all), 1000)", role: service)
        #expect(try count("evidence") == 10)
        #expect(try count("quarantined_events") == 1)
        // In one snapshot, the function could not see later commits.
        #expect(throws: (any Error).self) {
            try database.run(
                """
                begin isolation level repeatable read;
                select deed.forget_evidence(-1, 9, 1000);
                commit
                """, role: service)
        }
        for table in ["evidence", "quarantined_events"] {
            #expect(throws: (any Error).self) {
                try database.run("delete from deed.\(table)", role: service)
            }
        }
    }

    @Test("Old budgets, places in books and moved events go; young and open ones stay")
    func rows() throws {
        defer { ledger.close() }
        let (old, now) = ("\(Self.old.milliseconds)", Self.now)
        try database.run(
            """
            insert into deed.store_budgets select 'p', 'apple', 'a' || n, 'production', 'e',
                \(old) * 1000, 0 from generate_series(1, 1200) as n;
            insert into deed.store_budgets values
                ('p', 'apple', 'used', 'production', 'e', \(now) * 1000, 0),
                ('p', 'apple', 'rests', 'production', 'e', 0, \(now) * 1000 + 1);
            insert into deed.histories (project, store, app, environment, original, kept_at)
                select 'p', 'apple', 'a', 'production', 'o' || n, \(old) from generate_series(1, 1200) as n;
            insert into deed.histories (project, store, app, environment, original)
                values ('p', 'apple', 'a', 'production', 'young');
            insert into deed.quarantined_events select 0, n, 'default', 'production', 'u7', 1, 'a.b', '{}',
                sha256('1'), sha256('1'), 0, 0, 'test', 'test', 0, sha256('1'), 0, null, 1, 8,
                case n when 1 then \(now) else \(old) end, 'x' from generate_series(1, 4) as n
            """)
        var gone: [OldRows: Int64] = [:]
        for rows in OldRows.allCases {
            while true {
                let page = try ledger.forget(rows, before: Self.end)
                gone[rows, default: 0] += page.count
                if page.isLast { break }
            }
        }
        #expect(
            gone == [
                .budgets: 1200, .histories: 1200, .quarantined: 3, .leases: 0, .refusedCalls: 0,
                .webhookAttempts: 0, .webhookReplays: 0,
            ])
        #expect(try count("store_budgets", "app in ('used', 'rests')") == 2)
        #expect(try count("store_budgets") == 2)
        #expect(try count("histories", "original = 'young'") == 1)
        #expect(try count("histories") == 1)
        #expect(try count("quarantined_events", "seq = 1") == 1)
        #expect(try count("quarantined_events") == 1)
    }

    @Test("A place in a store's books becomes young again when it is kept again")
    func keptAgain() throws {
        defer { ledger.close() }
        try buy(1)
        let app = StoreApp(
            project: id("default"), key: AppKey(store: .apple, id: id("com.example.game")))
        let purchase = StorePurchase(
            app: app, environment: .production,
            purchase: PurchaseID(store: .apple, original: id("1")))
        try ledger.keep(HistoryMark(since: nil, revision: "r", restsUntil: nil), of: purchase)
        try database.run("update deed.histories set kept_at = 0")
        try ledger.keep(HistoryMark(since: nil, revision: "s", restsUntil: nil), of: purchase)
        #expect(try ledger.forget(.histories, before: Self.end).count == 0)
        #expect(try ledger.historyMark(of: purchase)?.revision == "s")
    }

    @Test("A lease that was unused for long goes, and none that is held; a former holder stays out")
    func leases() throws {
        defer { ledger.close() }
        func take(_ name: String, at instant: Instant) throws -> Lease? {
            try ledger.takeLease(
                of: name, at: instant, until: instant.advanced(byMilliseconds: 15_000), lastRun: nil
            )
        }
        let unused = try #require(try take("unused", at: Self.old))
        try ledger.end(unused, ranAt: Self.old)
        let died = try #require(try take("died", at: Self.old))
        let recent = try #require(try take("recent", at: Self.end))
        try ledger.end(recent, ranAt: Self.end)
        let held = try #require(try take("held", at: Self.end))
        // This lease's last run was long ago, but another run is in progress.
        try database.run("update deed.leases set ran_at = 0 where name = 'held'")
        #expect(try ledger.forget(.leases, before: Self.end).count == 2)
        #expect(try count("leases", "name in ('recent', 'held')") == 2)
        #expect(try count("leases") == 2)
        for former in [unused, died] {
            let next = try #require(try take(former.name, at: Self.end))
            #expect(next.fence > former.fence)
            #expect(try !ledger.keep(former, until: Self.end))
        }
        #expect(try ledger.keep(held, until: Self.end))
    }
}

/// The failures of all threads.
private final class Failures: Sendable {
    private let found = Mutex<[String]>([])

    func add(_ text: String) { found.withLock { $0.append(text) } }
    var all: [String] { found.withLock { $0 } }
}

extension [UInt8] {
    fileprivate init(hexText: String) {
        let digits = [Character](hexText)
        self = stride(from: 0, to: digits.count, by: 2).compactMap {
            UInt8(String(digits[$0...$0 + 1]), radix: 16)
        }
    }
}
