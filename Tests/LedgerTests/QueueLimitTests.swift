import Core
import Ledger
import Postgres
import Synchronization
import Telemetry
import TestSupport
import Testing

@Suite("Commands that wait", .timeLimit(.minutes(20)))
struct QueueLimitTests {
    private static let limit = 8

    @Test("Only a limited number wait; the others are refused at once, and may come again")
    func bounded() throws {
        let database = try ScratchDatabase()
        let metrics = Metrics()
        let ledger = database.ledger(
            metrics: metrics,
            change: {
                $0.committers = 1
                $0.queueLimit = QueueLimitTests.limit
                $0.patienceMilliseconds = 20_000
            })
        defer { ledger.close() }
        let answers = Mutex<[Int: Result<Outcome, CommandError>]>([:])
        func submit(_ numbers: Range<Int>) throws {
            for number in numbers {
                let command = try Command.give(
                    "pro", to: .test("u\(number)"), grant: "g\(number)")
                ledger.submit(command) { answer in
                    answers.withLock { $0[number] = answer }
                }
            }
        }
        var holder = try Connection.open(database.settings())
        try holder.run(Script(embedded: Array("begin; lock deed.shards in exclusive mode".utf8)))
        // The committer has taken this command and waits for the locked shards.
        try submit(0..<1)
        #expect(eventually(within: 5000) { metrics.text().contains("deed_commit_queue_depth 0\n") })
        try submit(1..<21)
        #expect(metrics.text().contains("deed_commit_queue_depth \(QueueLimitTests.limit)\n"))
        let refused = answers.withLock { $0 }
        #expect(refused.count == 20 - QueueLimitTests.limit)
        for answer in refused.values {
            #expect(throws: CommandError.fault(.busy)) { try answer.get() }
        }
        try holder.run(Script(embedded: Array("rollback".utf8)))
        #expect(eventually(within: 20_000) { answers.withLock { $0.count } == 21 })
        let obeyed = answers.withLock { answers in answers.values.count { (try? $0.get()) != nil } }
        #expect(obeyed == 1 + QueueLimitTests.limit)
        for number in refused.keys {
            _ = try ledger.append(.give("pro", to: .test("u\(number)"), grant: "g\(number)"))
        }
        #expect(try database.number("select count(*) from deed.events") == 21)
    }
}
