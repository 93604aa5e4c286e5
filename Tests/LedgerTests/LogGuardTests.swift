import Core
import Crypto
import Synchronization
import TestSupport
import Testing
import Threading

@testable import Ledger

@Suite("What an instance has seen of the log")
struct LogGuardTests {
    private func mark(_ shard: Int16, _ head: Int64, _ chain: UInt8 = 0) -> ShardMark {
        ShardMark(
            shard: Shard(number: shard), head: head, chain: [UInt8](repeating: chain, count: 32))
    }

    private func seen(_ marks: ShardMark..., accepting: String...) throws -> SeenLog {
        var seen = SeenLog()
        seen.note(marks)
        seen.acceptances = Set(try accepting.map { try AcceptanceID($0) })
        return seen
    }

    @Test("If two have seen the same log, the further end of each shard counts")
    func merged() throws {
        var one = try seen(mark(1, 5, 1), mark(2, 7, 2))
        one.merge(try seen(mark(1, 9, 3), mark(2, 6, 4), mark(3, 1, 5)))
        #expect(
            Set(one.marks.values) == [mark(1, 9, 3), mark(2, 7, 2), mark(3, 1, 5)])
    }

    @Test(
        "The instance with more accepted losses knows the log's end, even if it is earlier")
    func mergedAfterLoss() throws {
        let before = try seen(mark(1, 9))
        let after = try seen(mark(1, 4), accepting: "ac_1")
        var late = before
        late.merge(after)
        #expect(late == after)
        var early = after
        early.merge(before)
        #expect(early == after)
        // Each side knows of a loss that the other does not. Neither may forget what it has seen.
        var both = after
        both.merge(try seen(mark(1, 6), accepting: "ac_2"))
        #expect(both.marks[Shard(number: 1)]?.head == 6)
        #expect(both.acceptances.count == 2)
    }

    @Test("A log begins anew once for each acceptance, at the server that was met")
    func anew() throws {
        let met = ServerIdentity(system: "7", database: "deed", timeline: 2)
        let accepted: Set = [try AcceptanceID("ac_1")]
        var known = try seen(mark(1, 9), mark(2, 2))
        let isBegun = known.begin(anew: [mark(1, 4)], at: met, accepting: accepted)
        #expect(isBegun)
        #expect(Array(known.marks.values) == [mark(1, 4)])
        #expect(known.server == met)
        known.note([mark(1, 5)])
        let isBegunAgain = known.begin(anew: [mark(1, 4)], at: met, accepting: accepted)
        #expect(!isBegunAgain)
        #expect(known.marks[Shard(number: 1)]?.head == 5)
    }

    @Test("What a read promises is remembered like what is written")
    func reads() throws {
        let database = try ScratchDatabase()
        let writer = database.ledger()
        defer { writer.close() }
        let (one, many) = (try Stream.test("u1"), try Stream.test("u2"))
        try #require(one.shard != many.shard)
        let position = try writer.append(.give("pro", to: one, grant: "g1")).position
        let kept = Mutex(SeenLog())
        let reader = database.ledger(change: {
            $0.memory = LogMemory(
                recall: { _, _ in nil },
                keep: { seen, _ in
                    kept.withLock { $0 = seen }
                    return nil
                })
        })
        defer { reader.close() }
        #expect(try reader.customer(of: one).position == position)
        let later = try writer.append(.give("vip", to: one, grant: "g2")).position
        let other = try writer.append(.give("vip", to: many, grant: "g3")).position
        #expect(try reader.customer(of: one).position == later)
        #expect(try reader.customers([many]).first?.get().position == other)
        reader.known.keep()
        let heads = kept.withLock { $0.marks.mapValues(\.head) }
        #expect(heads == [one.shard: later.sequence, many.shard: other.sequence])
    }

    @Test("A question from before an accepted loss does not bring the lost end back")
    func late() throws {
        let database = try ScratchDatabase()
        let kept = Mutex(SeenLog())
        let ledger = database.ledger(change: {
            $0.memory = LogMemory(
                recall: { _, _ in nil },
                keep: { seen, _ in
                    kept.withLock { $0 = seen }
                    return nil
                })
        })
        defer { ledger.close() }
        let stream = try Stream.test("u1")
        for grant in ["g1", "g2"] {
            _ = try ledger.append(.give("pro", to: stream, grant: grant))
        }
        _ = try ledger.look()
        let epoch = ledger.known.epoch
        try database.run(
            """
            alter table deed.events disable trigger all;
            alter table deed.shards disable trigger all;
            delete from deed.events where seq = 2;
            update deed.shards as s
            set head = 1, chain = e.chain from deed.events as e where e.shard = s.shard;
            select pg_terminate_backend(pid) from pg_stat_activity
            where datname = current_database() and pid <> pg_backend_pid();
            """)
        try database.acceptLog()
        #expect(
            eventually(within: 10_000) {
                (try? ledger.customer(of: stream).customer.grants.count) == 1
            })
        #expect(ledger.known.epoch == epoch + 1)
        let lost = mark(stream.shard.number, 2, 7)
        func head() -> Int64? {
            ledger.known.keep()
            return kept.withLock { $0.marks[stream.shard]?.head }
        }
        ledger.known.note([lost], askedIn: epoch)
        #expect(head() == 1)
        ledger.known.note([lost], askedIn: epoch + 1)
        #expect(head() == 2)
    }

    @Test("What is seen is stored each time, and synced once a second or for another history")
    func rareSyncs() throws {
        let database = try ScratchDatabase()
        let calls = Mutex<[(seen: SeenLog, care: LogMemory.Care)]>([])
        let ledger = database.ledger(change: {
            $0.memory = LogMemory(
                recall: { _, _ in nil },
                keep: { seen, care in
                    calls.withLock { $0.append((seen, care)) }
                    return nil
                })
        })
        let shard = try Stream.test("u1").shard.number
        _ = try ledger.append(.give("pro", to: .test("u1"), grant: "g1"))
        _ = try ledger.look()
        ledger.known.keep()
        let duration = ContinuousClock().measure {
            for head in Int64(2)...50 {
                ledger.known.note([mark(shard, head, 7)], askedIn: 0)
                ledger.known.keep()
            }
        }
        func syncs() -> Int { calls.withLock { $0.count { $0.care == .synced } } }
        func syncedHead() -> Int64? {
            calls.withLock { $0.last { $0.care == .synced }?.seen.marks.values.first?.head }
        }
        #expect(calls.withLock { $0.count } == 50)
        #expect(calls.withLock { $0.last?.seen.marks.values.first?.head } == 50)
        #expect((1...(2 + Int(duration.components.seconds))).contains(syncs()))
        // Accepted losses are synced as soon as they are stored.
        let before = syncs()
        ledger.known.know([try AcceptanceID("ac_1")])
        ledger.known.keep()
        #expect(syncs() == before + 1)
        // The latest position is also synced, even if no other one follows.
        ledger.known.note([mark(shard, 51, 7)], askedIn: 0)
        #expect(
            eventually(within: 10_000) {
                ledger.known.keep()
                return syncedHead() == 51
            })
        ledger.known.note([mark(shard, 52, 7)], askedIn: 0)
        ledger.close()
        #expect(syncedHead() == 52)
    }

    @Test("A server that was refused once is forgotten by the next look at the right one")
    func refusedOnce() throws {
        let database = try ScratchDatabase()
        let ledger = database.ledger()
        defer { ledger.close() }
        let stream = try Stream.test("u1")
        for grant in ["g1", "g2"] {
            _ = try ledger.append(.give("pro", to: stream, grant: grant))
        }
        _ = try ledger.look()
        _ = try ledger.customer(of: stream)
        try database.run(
            """
            alter table deed.events disable trigger all;
            alter table deed.shards disable trigger all;
            create table public.aside as select * from deed.events where seq = 2;
            create table public.shards_aside as select * from deed.shards;
            delete from deed.events where seq = 2;
            update deed.shards as s
            set head = 1, chain = e.chain from deed.events as e where e.shard = s.shard;
            """)
        // Ends every session except the one that checks the log, which begins with the test clock.
        try database.run(
            """
            select pg_terminate_backend(pid) from pg_stat_activity
            where datname = current_database() and application_name = 'deed'
                and pid <> pg_backend_pid() and query not like '%test clock stands%'
            """)
        #expect(throws: Fault.self) { try ledger.customer(of: stream) }
        #expect(ledger.impediments.map(\.kind) == [.behind])
        // From now on, each connection pauses longer between attempts.
        for _ in 0..<10 {
            #expect(throws: Fault.self) { try ledger.customer(of: stream) }
            pause(milliseconds: 150)
        }
        try database.run(
            """
            insert into deed.events select * from public.aside;
            delete from deed.shards;
            insert into deed.shards select * from public.shards_aside;
            """)
        _ = try ledger.look()
        #expect(ledger.impediments.isEmpty)
        // An instance that reports that it is ready accepts reads and writes immediately.
        #expect(try ledger.customer(of: stream).customer.grants.count == 2)
        _ = try ledger.append(.give("pro", to: stream, grant: "g3"))
    }

    @Test(
        "With an unreadable file, losses accepted after its last write still count",
        arguments: [(-1, true), (1, false)] as [(Int64, Bool)])
    func acceptedBefore(_ writtenLater: Int64, isAccepted: Bool) throws {
        let database = try ScratchDatabase()
        // The log records this at 2026-11-20T19:21:00Z, before the instance starts.
        try database.acceptLog()
        let changedAt = Instant(milliseconds: 1_795_202_460_000 + writtenLater)
        let ledger = database.ledger(change: {
            $0.memory = LogMemory(
                recall: { _, _ throws(LogMemory.NotRecalled) in
                    throw LogMemory.NotRecalled("it is damaged", changedAt: changedAt)
                }, keep: { _, _ in nil })
        })
        defer { ledger.close() }
        if isAccepted {
            _ = try ledger.look()
        } else {
            #expect(throws: Fault.self) { try ledger.look() }
        }
        #expect(ledger.impediments.map(\.kind) == (isAccepted ? [] : [.behind]))
    }

    @Test("Events beyond any head neither accept a loss nor identify the log")
    func beyond() throws {
        let database = try ScratchDatabase()
        let kept = Mutex(SeenLog())
        let memory = LogMemory(
            recall: { _, _ in nil },
            keep: { seen, _ in
                kept.withLock { $0 = seen }
                return nil
            })
        try database.acceptLog()
        let later = Instant(milliseconds: 1_795_202_461_000)
        let ledger = database.ledger(clock: { later }, change: { $0.memory = memory })
        defer { ledger.close() }
        ledger.known.know([try AcceptanceID("ac_1")])
        let stream = try Stream.test("u1")
        for grant in ["g1", "g2"] {
            _ = try ledger.append(.give("pro", to: stream, grant: grant))
        }
        ledger.known.keep()
        let root = kept.withLock { $0.root }
        // Forges the first event of an empty shard, and an acceptance after another shard's last event.
        let columns = """
            digest, chain, 0, 0, actor, cause, cause_index, cause_digest, catalog_version, evidence, format
            from deed.events
            """
        try database.run(
            """
            insert into deed.events
            select s.shard, 1, project, environment, 'x', 1, type, payload, digest,
                decode(repeat('07', 32), 'hex'), -9, -9, actor, cause, cause_index, cause_digest,
                catalog_version, evidence, format
            from deed.events, (select shard from deed.shards where head = 0 limit 1) as s
            where customer = 'u1' and version = 1;
            insert into deed.events
            select shard, seq + 7, project, environment, customer, version + 7, type,
                replace(payload, 'ac_1', 'ac_2'), \(columns) where type = 'log.accepted'
            """, role: LedgerSettings.serviceRole)
        let other = database.ledger(change: { $0.memory = memory })
        defer { other.close() }
        _ = try other.customer(of: stream)
        other.known.keep()
        #expect(kept.withLock { $0.root } == root)
        try database.run(
            """
            alter table deed.events disable trigger all;
            alter table deed.shards disable trigger all;
            delete from deed.events where seq = 2 and customer = 'u1';
            update deed.shards as s set head = 1, chain = e.chain
            from deed.events as e where e.shard = s.shard and e.customer = 'u1';
            select pg_terminate_backend(pid) from pg_stat_activity
            where datname = current_database() and pid <> pg_backend_pid();
            """)
        #expect(throws: Fault.self) {
            _ = try ledger.look(); _ = try ledger.look()
        }
        #expect(ledger.impediments.map(\.kind) == [.behind])
    }
}
