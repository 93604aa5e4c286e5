import Core
import Histories
import Postgres
import Synchronization
import TestSupport
import Testing
import Threading

@testable import Ledger

/// Tests a newer program's database, whose number is one ahead, and an older program, whose number is one behind.
@Suite("The log's format")
struct FormatTests {
    private let database: ScratchDatabase

    init() throws {
        database = try ScratchDatabase()
    }

    private func set(_ format: LogFormat, _ program: String = "9.9.9") throws {
        try database.run(
            """
            alter table deed.format disable trigger all;
            update deed.format set number = \(format.number), program = '\(program)';
            alter table deed.format enable trigger all
            """)
    }

    private var eventCount: Int64 {
        get throws { try database.number("select count(*) from deed.events") }
    }

    private static let newer = LogFormat(LogFormat.own.number + 1)

    /// Returns a command that records a purchase with a store's whole answer.
    private func reading(of stream: Stream) throws -> Command {
        let sample = try #require(
            EventCodingTests.furtherPayloads.first { $0.type == "purchase.made" && $0.format == 2 })
        let event = try Event(type: sample.type, format: 2, payload: sample.payload)
        var command = Command.customer(
            stream, actor: try Actor("test"),
            cause: Cause(text: "key:reading", digest: [UInt8](repeating: 0, count: 32))
        ) { _, _, _ throws(Refusal) in [event] }
        if case .purchaseMade(let fact) = event {
            command.purchases = [HeldPurchase(app: fact.app, purchase: fact.purchase)]
        }
        return command
    }

    @Test("Under a newer format nothing is written, and the reason names the wanted release")
    func older() throws {
        let ledger = database.ledger()
        defer { ledger.close() }
        let stream = try Stream.test("u1")
        _ = try ledger.append(.give("pro", to: stream, grant: "g1"))
        _ = try ledger.look()
        #expect(ledger.impediments.isEmpty)
        try set(Self.newer)
        let before = try eventCount
        // The commit itself compares the numbers, because the ledger has not looked since.
        #expect {
            try ledger.append(.give("pro", to: stream, grant: "g2"))
        } throws: { error in
            guard case .fault(.impeded(let impediment)) = error as? CommandError else {
                return false
            }
            return impediment.kind == .outdated && impediment.sentence.contains("deed 9.9.9")
        }
        // The program does not repeat the answer to an earlier command either.
        #expect(throws: CommandError.self) {
            try ledger.append(.give("pro", to: stream, grant: "g1"))
        }
        #expect(try eventCount == before)
        _ = try ledger.look()
        #expect(ledger.impediments.map(\.kind) == [.outdated])
        #expect(try ledger.customer(of: stream).customer.grants.count == 1)
        // The program does not take over another instance's job either.
        #expect(throws: Fault.self) {
            try ledger.takeLease(of: "job", at: at(0), until: at(1), lastRun: nil)
        }
        var schema = Schema(database.settings())
        #expect(throws: LedgerError.self) { try schema.validate() }
    }

    @Test("While the format is raised under load, each commit is over before or refused")
    func raised() throws {
        let ledgers = [database.ledger(), database.ledger()]
        defer { for ledger in ledgers { ledger.close() } }
        let acknowledged = Atomic(0)
        let isOver = Atomic(false)
        inParallel(8) { lane in
            if lane == 0 {
                _ = eventually(within: 60_000) { acknowledged.load(ordering: .relaxed) > 200 }
                try? database.run(
                    """
                    begin;
                    select shard from deed.shards order by shard for update;
                    select pg_sleep(0.2);
                    update deed.format set number = \(Self.newer.number), program = '9.9.9';
                    create table public.ends as select sum(head) as head from deed.shards;
                    commit
                    """)
                pause(milliseconds: 300)
                isOver.store(true, ordering: .relaxed)
                return
            }
            var number = 0
            while !isOver.load(ordering: .relaxed) {
                number += 1
                guard let stream = try? Stream.test("u\(lane)-\(number % 50)"),
                    let command = try? Command.give(
                        "pro", to: stream, grant: "g\(lane)-\(number)")
                else { return }
                if (try? ledgers[lane % 2].append(command)) != nil {
                    acknowledged.add(1, ordering: .relaxed)
                }
            }
        }
        let count = Int64(acknowledged.load(ordering: .relaxed))
        #expect(count > 200)
        #expect(try eventCount == count)
        #expect(try database.number("select head::bigint from public.ends") == count)
    }

    @Test("Before the step a newer program refuses what older ones could not read, and only that")
    func pending() throws {
        try set(.first)
        let ledger = database.ledger()
        defer { ledger.close() }
        let stream = try Stream.test("u1")
        let seen = Mutex<LogFormat?>(nil)
        let looking = Command(
            stream: stream, actor: try Actor("test"),
            cause: Cause(text: "key:look", digest: [UInt8](repeating: 0, count: 32))
        ) { situation throws(Refusal) in
            seen.withLock { $0 = situation.format }
            return Decision([], for: stream.customer)
        }
        _ = try ledger.append(looking)
        #expect(seen.withLock { $0 } == .first)
        _ = try ledger.append(.give("pro", to: stream, grant: "g1"))
        let refusal = Refusal.formatPending(needed: .readings, present: .first)
        #expect(throws: CommandError.refused(refusal)) {
            try ledger.append(try reading(of: stream))
        }
        #expect(try eventCount == 1)
        // Other commands in the same batch succeed.
        let results = Mutex<[Bool]>([])
        inParallel(8) { lane in
            let command =
                lane == 0
                ? try? reading(of: stream) : try? .give("pro", to: stream, grant: "h\(lane)")
            let isDone = command.map { (try? ledger.append($0)) != nil } ?? false
            if lane > 0 { results.withLock { $0.append(isDone) } }
        }
        #expect(results.withLock { $0 }.allSatisfy { $0 })
        #expect(try database.number("select max(format) from deed.events") == 1)
        // The running program adopts the new number at once.
        var schema = Schema(database.settings())
        #expect(try schema.raiseFormat(by: "9.9.9", now: at(0)) == .first)
        _ = try ledger.append(try reading(of: stream))
        #expect(try database.number("select max(format) from deed.events") == 2)
        #expect(try ledger.customer(of: stream).customer.purchases.count == 1)
    }

    @Test("What the clock publishes is held to the format, and nothing is written before it")
    func published() throws {
        let stream = try Stream.test("u1")
        let given = GrantGiven(
            grant: id("g1"), entitlement: id("pro"), start: at(0), end: at(1), reason: id("r"),
            ticket: nil)
        func batch(_ format: LogFormat) throws -> Batch {
            let head = ShardHead(
                sequence: 2, chain: [UInt8](repeating: 0, count: 32), recordedAt: at(0))
            let projects = Stream.ofProject(stream.project)
            var batch = Batch(
                now: at(2), heads: [stream.shard: head], holders: Holders(asking: []),
                format: format)
            batch.load(Fold(emptyFor: stream), of: stream)
            batch.load(Fold(emptyFor: projects), of: projects)
            let record = EventRecord(
                occurredAt: at(0), recordedAt: at(0), actor: id("a"), cause: "key:k",
                catalogVersion: 0)
            batch.apply(
                RecordedEvent(
                    stream: projects, version: 1,
                    position: Position(shard: projects.shard, sequence: 1),
                    event: .projectCreated(ProjectCreated(project: stream.project)),
                    record: record), causeDigest: [])
            batch.apply(
                RecordedEvent(
                    stream: stream, version: 1,
                    position: Position(shard: stream.shard, sequence: 2),
                    event: .grantGiven(given), record: record), causeDigest: [])
            return batch
        }
        var first = try batch(.first)
        _ = try first.decide(Candidate(.publishing(stream)))
        #expect(first.entries.map(\.event.type) == [.accessEnded])
        // For this number, all events are too new.
        let none = LogFormat(0)
        var held = try batch(none)
        for command in [Command.publishing(stream), try .give("vip", to: stream, grant: "g2")] {
            #expect {
                try held.decide(Candidate(command))
            } throws: { error in
                guard case .refused(.formatPending(.first, none)) = error as? Undecided else {
                    return false
                }
                return true
            }
            #expect(held.isEmpty)
        }
    }

    @Test("An empty log begins with the program's own format; another keeps its own")
    func beginning() throws {
        #expect(try database.number("select number from deed.format") == Self.ownNumber)
        let ledger = database.ledger()
        defer { ledger.close() }
        _ = try ledger.append(.give("pro", to: try .test("u1"), grant: "g1"))
        // Makes the database look as if an earlier release without formats had created it.
        try database.run(
            """
            drop table deed.format, deed.second_factors, deed.emergency_codes, deed.begun_sign_ins, deed.catalogs,
                deed.figures cascade;
            alter table deed.sessions drop column by_code;
            delete from deed.migrations where number >= 12
            """)
        var schema = Schema(database.settings())
        #expect(try schema.standing().demand == nil)
        for _ in 0..<2 {
            try schema.migrate(by: "9.9.9", now: at(0)) { _ in }
            #expect(try schema.standing().pendingFormat == .first)
        }
        #expect(try schema.raiseFormat(by: "9.9.9", now: at(0)) == .first)
        #expect(try schema.raiseFormat(by: "8.8.8", now: at(1)) == .own)
        let standing = try schema.standing()
        #expect(standing.pendingFormat == nil && standing.demand?.program == "9.9.9")
    }

    private static let ownNumber = Int64(LogFormat.own.number)

    @Test("A format never goes back, and only the owner raises it")
    func guarded() throws {
        for change in ["update deed.format set number = 1", "delete from deed.format"] {
            #expect(throws: PostgresError.self) { try database.run(change) }
        }
        #expect(throws: PostgresError.self) {
            try database.run(
                "update deed.format set number = 30", role: LedgerSettings.serviceRole)
        }
        var asService = Schema(database.settings(role: LedgerSettings.serviceRole))
        try set(.first)
        #expect(throws: LedgerError.self) { try asService.raiseFormat(by: "9.9.9", now: at(0)) }
    }

    @Test("A newer schema is worked under as long as it does not leave the program behind")
    func newerSchema() throws {
        let ledger = database.ledger()
        defer { ledger.close() }
        let later = Schema.needed + 1
        try database.run(
            """
            alter table deed.customers add column later text;
            insert into deed.migrations (number, name, digest, applied_at)
            values (\(later), '\(later)_later', decode(repeat('00', 32), 'hex'), 0)
            """)
        var schema = Schema(database.settings())
        try schema.validate()
        try schema.migrate(now: at(0)) { _ in Issue.record("a step was taken") }
        #expect(try schema.differences().isEmpty)
        _ = try ledger.append(.give("pro", to: try .test("u1"), grant: "g1"))
        _ = try ledger.look()
        #expect(ledger.impediments.isEmpty)
        // Acts as if a later program had changed the format.
        try database.run("update deed.format set migration = \(later)")
        _ = try ledger.look()
        #expect(ledger.impediments.map(\.kind) == [.outdated])
        #expect(throws: CommandError.self) {
            try ledger.append(.give("pro", to: try .test("u1"), grant: "g2"))
        }
        #expect(throws: LedgerError.self) { try schema.validate() }
        #expect(throws: LedgerError.self) { try schema.migrate(now: at(0)) { _ in } }
    }
}
