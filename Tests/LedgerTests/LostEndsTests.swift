import Core
import TestSupport
import Testing
import Threading

@testable import Ledger

/// Tests that a loss known to one instance stops the other instances, even if they have not seen it.
@Suite("Losses that an instance has noted")
struct LostEndsTests {
    private let database: ScratchDatabase
    private let stream: Stream
    private static let notes = "select count(*) from deed.lost_ends"

    init() throws {
        database = try ScratchDatabase()
        stream = try Stream.test("u1")
    }

    /// A memory like a service's that stores nothing.
    private static let memory = LogMemory(recall: { _, _ in nil }, keep: { _, _ in nil })

    private func instance(_ notes: LogMemory.Notes = .written) -> Ledger {
        database.ledger(change: {
            $0.memory = Self.memory
            $0.memory.notes = notes
        })
    }

    /// Makes two grants and removes the last event, like a server that lost it.
    private func loseOne(seenBy ledger: Ledger) throws {
        for grant in ["g1", "g2"] {
            _ = try ledger.append(.give("pro", to: stream, grant: grant))
        }
        _ = try ledger.look()
        try database.run(
            """
            alter table deed.events disable trigger all;
            alter table deed.shards disable trigger all;
            create table public.aside as select * from deed.events where seq = 2;
            create table public.shards_aside as select * from deed.shards;
            delete from deed.events where seq = 2;
            update deed.shards as s
            set head = 1, chain = e.chain from deed.events as e where e.shard = s.shard
            """)
    }

    /// Ends every other session, as a failover does.
    private func cut() throws {
        try database.run(
            """
            select pg_terminate_backend(pid) from pg_stat_activity
            where datname = current_database() and pid <> pg_backend_pid()
            """)
    }

    /// Reads until the ledger refuses, and returns the reason.
    private func refusal(of ledger: Ledger) -> String? {
        for _ in 0..<20 {
            if case .impeded(let impediment)? = try? outcome(of: ledger) {
                return impediment.sentence
            }
            pause(milliseconds: 50)
        }
        return nil
    }

    private func outcome(of ledger: Ledger) throws -> Fault? {
        do throws(Fault) {
            _ = try ledger.look()
            return nil
        } catch {
            return error
        }
    }

    private func forge(shard: Int16? = nil, seq: Int64 = 9, acceptances: Int64 = 0) throws {
        try database.run(
            """
            insert into deed.lost_ends values (\(shard ?? stream.shard.number), \(seq),
                decode(repeat('07', 32), 'hex'), \(acceptances))
            """, role: LedgerSettings.serviceRole)
    }

    @Test("Others are refused with the number of lost events, whatever they have seen")
    func others() throws {
        let seer = instance()
        try loseOne(seenBy: seer)
        // When this instance first connected, the event was already missing.
        let atWork = instance()
        defer { atWork.close() }
        #expect(try atWork.customer(of: stream).customer.grants.count == 1)
        #expect(try outcome(of: atWork) == nil)
        try cut()
        #expect(refusal(of: seer)?.contains("lacks at least 1 event that this instance") == true)
        // The instance that knows of the loss is gone.
        seer.close()
        #expect(try database.number(Self.notes) == 1)
        let lost = "lacks at least 1 event that another instance has seen, in 1 of the 64 shards"
        #expect(refusal(of: atWork)?.contains(lost) == true)
        // Deed abandons this instance's other connections, and new ones do not work.
        #expect(throws: Fault.self) { try atWork.customer(of: stream) }
        #expect(throws: CommandError.self) {
            try atWork.append(.give("pro", to: stream, grant: "g3"))
        }
        let new = instance()
        defer { new.close() }
        #expect(refusal(of: new)?.contains(lost) == true)
        #expect(throws: Fault.self) { try new.customer(of: stream) }
        #expect(try database.number("select count(*) from deed.events where seq > 1") == 0)
    }

    @Test("The instance that accepts the log is not stopped, and removes the notes")
    func accepted() throws {
        let seer = instance()
        defer { seer.close() }
        try loseOne(seenBy: seer)
        try cut()
        #expect(refusal(of: seer) != nil)
        let other = instance()
        defer { other.close() }
        #expect(refusal(of: other) != nil)
        try database.acceptLog()
        // The log decides even if the command dies before it removes the note.
        #expect(try database.number(Self.notes) == 1)
        for ledger in [seer, other, instance()] {
            #expect(eventually(within: 10_000) { (try? outcome(of: ledger)) == .some(nil) })
            #expect(try ledger.customer(of: stream).customer.grants.count == 1)
        }
        let acceptor = instance(.ignored)
        defer { acceptor.close() }
        try acceptor.forgetLostEnds()
        #expect(try database.number(Self.notes) == 0)
    }

    @Test("A note from before a later acceptance stops no one")
    func late() throws {
        try database.acceptLog()
        try forge()
        let ledger = instance()
        defer { ledger.close() }
        #expect(try outcome(of: ledger) == nil)
        // An accepted loss does not hide a later one.
        try database.run("update deed.lost_ends set acceptances = 1")
        #expect(refusal(of: ledger) != nil)
    }

    @Test("A server that has the noted events is used, without anyone's decision")
    func caughtUp() throws {
        let seer = instance()
        defer { seer.close() }
        try loseOne(seenBy: seer)
        try cut()
        #expect(refusal(of: seer) != nil)
        let other = instance()
        defer { other.close() }
        #expect(refusal(of: other) != nil)
        try database.run(
            """
            insert into deed.events select * from public.aside;
            delete from deed.shards;
            insert into deed.shards select * from public.shards_aside
            """)
        for ledger in [seer, other] {
            #expect(eventually(within: 10_000) { (try? outcome(of: ledger)) == .some(nil) })
            #expect(try ledger.customer(of: stream).customer.grants.count == 2)
        }
    }

    @Test("The service's login can stop the service by a note, and can do nothing more")
    func forged() throws {
        let ledger = instance()
        defer { ledger.close() }
        _ = try ledger.append(.give("pro", to: stream, grant: "g1"))
        _ = try ledger.look()
        let most: Int64 = 9_007_199_254_740_991
        for shard in Int16(0)..<64 { try forge(shard: shard, seq: most, acceptances: .max) }
        let found = refusal(of: ledger)
        #expect(found?.contains("in 64 of the 64 shards") == true, "\(found ?? "")")
        for values in [
            "(0, 9007199254740992, decode(repeat('07', 32), 'hex'), 0)", "(64, 1, '', 0)",
            "(0, 1, '', 0)", "(0, 0, decode(repeat('07', 32), 'hex'), 0)",
        ] {
            #expect(throws: (any Error).self) {
                try database.run(
                    "delete from deed.lost_ends; insert into deed.lost_ends values \(values)")
            }
        }
        let acceptor = instance(.ignored)
        defer { acceptor.close() }
        try acceptor.forgetLostEnds()
        #expect(eventually(within: 10_000) { (try? outcome(of: ledger)) == .some(nil) })
        #expect(try ledger.customer(of: stream).customer.grants.count == 1)
    }

    @Test("A command notes nothing, whatever the machine remembers of another copy of the log")
    func commands() throws {
        let ledger = instance(.heeded)
        defer { ledger.close() }
        try loseOne(seenBy: ledger)
        try cut()
        #expect(refusal(of: ledger) != nil)
        #expect(try database.number(Self.notes) == 0)
    }
}
