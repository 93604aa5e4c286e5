import Auditing
import Core
import Foundation
import Ledger
import Synchronization
import Telemetry
import TestSupport
import Testing

@Suite("Appending to the ledger")
struct AppendTests {
    @Test("A new grant is there, at the first position of its shard")
    func givenGrant() throws {
        let database = try ScratchDatabase()
        let ledger = database.ledger()
        defer { ledger.close() }
        let stream = try Stream.test("u1")
        let outcome = try ledger.append(.give("pro", to: stream, grant: "g1"))
        #expect(outcome.position == Position(shard: stream.shard, sequence: 1))
        let snapshot = try ledger.customer(of: stream)
        #expect(snapshot.customer == outcome.state.customer)
        #expect(snapshot.position == outcome.position)
        let entry = try #require(try ledger.events(of: stream, after: 0, limit: 10).first)
        #expect(entry.type == "grant.given")
        #expect(
            entry.payload
                == #"{"grant":"g1","entitlement":"pro","start":"2026-11-20T19:21:00.000Z","#
                + #""end":null,"reason":"test","ticket":null}"#)
    }

    @Test("The same cause is carried out once and answered the same")
    func sameCause() throws {
        let database = try ScratchDatabase()
        let ledger = database.ledger()
        defer { ledger.close() }
        let stream = try Stream.test("u1")
        let first = try ledger.append(.give("pro", to: stream, grant: "g1", key: "k"))
        let again = try ledger.append(.give("pro", to: stream, grant: "g2", key: "k"))
        #expect(again.events == first.events)
        #expect(try ledger.events(of: stream, after: 0, limit: 10).count == 1)
    }

    @Test("The same cause with another command is refused")
    func mismatch() throws {
        let database = try ScratchDatabase()
        let ledger = database.ledger()
        defer { ledger.close() }
        let stream = try Stream.test("u1")
        _ = try ledger.append(.give("pro", to: stream, grant: "g1", key: "k", digest: 1))
        #expect(throws: CommandError.refused(.idempotencyMismatch)) {
            try ledger.append(.give("vip", to: stream, grant: "g2", key: "k", digest: 2))
        }
    }

    @Test("Simultaneous copies make one event, in one process and in two")
    func simultaneousTwins() throws {
        let database = try ScratchDatabase()
        let ledgers = [database.ledger(), database.ledger()]
        defer { for ledger in ledgers { ledger.close() } }
        let stream = try Stream.test("u1")
        let answers = Mutex<[[RecordedEvent]]>([])
        DispatchQueue.concurrentPerform(iterations: 32) { index in
            let command = try? Command.give("pro", to: stream, grant: "g\(index)", key: "same")
            guard let command, let outcome = try? ledgers[index % 2].append(command) else { return }
            answers.withLock { $0.append(outcome.events) }
        }
        let all = answers.withLock { $0 }
        #expect(all.count == 32)
        #expect(Set(all).count == 1)
        #expect(try ledgers[0].events(of: stream, after: 0, limit: 10).count == 1)
    }

    @Test("A command that violates a constraint is refused alone; its neighbours commit")
    func poisonedCommand() throws {
        let database = try ScratchDatabase()
        try database.run(
            "alter table deed.customers add constraint no_poison check (not runs ? 'poison')")
        let ledger = database.ledger(change: { $0.committers = 1 })
        defer { ledger.close() }
        let results = Mutex<[Int: Result<Outcome, CommandError>]>([:])
        DispatchQueue.concurrentPerform(iterations: 40) { index in
            let entitlement = index == 20 ? "poison" : "pro"
            guard let stream = try? Stream.test("u\(index % 7)"),
                let command = try? Command.give(entitlement, to: stream, grant: "g\(index)")
            else { return }
            let result = Result { () throws(CommandError) in try ledger.append(command) }
            results.withLock { $0[index] = result }
        }
        for (index, result) in results.withLock({ $0 }) {
            switch result {
            case .success: #expect(index != 20)
            case .failure(let error):
                #expect(index == 20)
                #expect("\(error)".contains("no_poison"))
            }
        }
        #expect(results.withLock { $0.count } == 40)
        var events: Int64 = 0
        for shard in Shard.all {
            let audit = try ledger.audit(shard)
            #expect(audit.findings.isEmpty)
            events += audit.events
        }
        #expect(events == 39)
    }

    @Test("Each committed batch is measured")
    func measured() throws {
        let database = try ScratchDatabase()
        let metrics = Metrics()
        let ledger = database.ledger(metrics: metrics)
        _ = try ledger.append(.give("pro", to: .test("u1"), grant: "g1"))
        ledger.close()
        #expect(metrics.text().contains("deed_commit_batch_size_count 1\n"))
    }

    @Test("A closed ledger accepts no more commands")
    func closed() throws {
        let ledger = try ScratchDatabase().ledger()
        ledger.close()
        #expect(throws: CommandError.fault(.busy)) {
            try ledger.append(.give("pro", to: .test("u1"), grant: "g1"))
        }
    }
}
