import Core
import Postgres
import Synchronization
import TestSupport
import Testing
import Threading

@testable import Ledger

@Suite("Commands without a waiting client", .timeLimit(.minutes(20)))
final class BackgroundTests {
    private let database: ScratchDatabase
    private let ledger: Ledger
    /// Customers in the same shard.
    private let streams: [Stream]

    init() throws {
        database = try ScratchDatabase()
        ledger = database.ledger()
        let shard = try Stream.test("u0").shard
        streams = Array(
            try (0..<12_000).map { try Stream.test("u\($0)") }.filter { $0.shard == shard }
                .prefix(121))
        try #require(streams.count == 121)
    }

    deinit { ledger.close() }

    /// Returns background commands for all streams but the last, which is for a client's command.
    private func grants() throws -> [Command] {
        try streams.dropLast().map { try .give("pro", to: $0, grant: "g1") }
    }

    private func largestCommit() throws -> Int64 {
        try database.number(
            "select max(n) from (select count(*) as n from deed.events group by xmin::text) as c")
    }

    /// Decides commands on another thread while the shard is locked. `body` sends the later commands.
    private func behindLock(
        _ commands: [Command], _ body: () throws -> Void
    ) throws -> [Result<Outcome, CommandError>] {
        var holder = try Connection.open(database.settings())
        try holder.run(Script(embedded: Array("begin; lock deed.shards in exclusive mode".utf8)))
        let answers = Monitor<[Result<Outcome, CommandError>]?>(nil)
        startThread("background") { [ledger] in
            let given = ledger.appendAll(commands, at: .run(nil), isRehearsal: false)
            answers.change { $0 = given }
        }
        let waits = """
            select count(*) from pg_stat_activity
            where datname = current_database() and wait_event_type = 'Lock'
            """
        #expect(try eventually(within: 10_000) { try database.number(waits) > 0 })
        try body()
        try holder.run(Script(embedded: Array("rollback".utf8)))
        return answers.wait { $0 }
    }

    @Test("A client waits for at most one batch of fifty customers")
    func clientsFirst() throws {
        let client = Monitor<Result<Outcome, CommandError>?>(nil)
        let command = try Command.give("pro", to: streams[120], grant: "g1")
        let answers = try behindLock(grants()) {
            ledger.submit(command) { answer in client.change { $0 = answer } }
        }
        for answer in answers { _ = try answer.get() }
        let outcome = try client.wait { $0 }.get()
        #expect(outcome.position.sequence <= 51)
        #expect(try database.number("select count(*) from deed.events") == 121)
        #expect(try largestCommit() == 50)
    }

    @Test("A run without clients commits more of them together if told to")
    func alone() throws {
        let alone = database.ledger(change: { $0.backgroundBatch = 500 })
        defer { alone.close() }
        let answers = alone.appendAll(try grants(), at: .run(nil), isRehearsal: false)
        for answer in answers { _ = try answer.get() }
        #expect(try largestCommit() == 120)
    }

    @Test("A batch with a statement of half a second is halved until it takes less")
    func slow() throws {
        // With this trigger, thirty commands take longer than half a second.
        try database.run(
            """
            create function deed.dawdle() returns trigger language plpgsql as
            $$ begin perform pg_sleep(0.02); return new; end $$;
            create trigger dawdle before insert on deed.events for each row
                execute function deed.dawdle()
            """)
        let answers = ledger.appendAll(try grants(), at: .run(nil), isRehearsal: false)
        for answer in answers { _ = try answer.get() }
        #expect(try database.number("select count(*) from deed.events") == 120)
        #expect(try largestCommit() <= 25)
    }

    @Test("A background command is decided on what a client changed meanwhile")
    func decidedLate() throws {
        let stream = streams[0]
        let cause = Cause(text: "late", digest: [UInt8](repeating: 0, count: 32))
        let seen = Mutex<Int?>(nil)
        let late = Command.customer(stream, actor: try Actor("test"), cause: cause) {
            state, _, _ in
            seen.withLock { $0 = state.grants.count }
            return []
        }
        let client = Monitor<Result<Outcome, CommandError>?>(nil)
        let command = try Command.give("pro", to: stream, grant: "g1")
        // The first background batch and the client wait for the lock. The second background batch comes after both.
        let answers = try behindLock(Array(grants().dropFirst()) + [late]) {
            ledger.submit(command) { answer in client.change { $0 = answer } }
        }
        _ = try client.wait { $0 }.get()
        #expect(try answers.last?.get().events.isEmpty == true)
        #expect(seen.withLock(\.self) == 1)
    }

    @Test("A rehearsal shows the result, and changes nothing")
    func rehearsal() throws {
        let answers = ledger.appendAll(try grants(), at: .run(nil), isRehearsal: true)
        for answer in answers { #expect(try answer.get().events.count == 1) }
        #expect(try database.number("select count(*) from deed.events") == 0)
        #expect(try ledger.customer(of: streams[0]).customer.grants.isEmpty)
    }
}
