import Core
import Histories
import Ledger
import TestSupport
import Testing

@Suite("Long streams", .timeLimit(.minutes(20)))
struct LongStreamTests {
    private let database: ScratchDatabase
    private static let count = 1200

    /// Creates a customer with more events than a commit loads while shards are locked.
    init() throws {
        database = try ScratchDatabase()
        let ledger = database.ledger()
        defer { ledger.close() }
        for number in 0..<Self.count {
            _ = try ledger.append(
                .give("pro", to: .test("long"), grant: "g\(number)"))
        }
    }

    private func count(of customer: String) throws -> Int64 {
        try database.number("select count(*) from deed.events where customer = '\(customer)'")
    }

    @Test("A process that has not seen a long stream writes to it, and finds what it obeyed before")
    func written() throws {
        let cold = database.ledger()
        defer { cold.close() }
        let new = try cold.append(.give("pro", to: .test("long"), grant: "new"))
        #expect(new.events.map(\.version) == [Int64(Self.count) + 1])
        let again = try cold.append(.give("pro", to: .test("long"), grant: "g7"))
        #expect(again.events.map(\.version) == [8])
        #expect(try count(of: "long") == Int64(Self.count) + 1)
    }

    @Test("Sessions that the database ends take no stream out of memory")
    func reconnected() throws {
        let ledger = database.ledger()
        defer { ledger.close() }
        _ = try ledger.append(.give("pro", to: .test("long"), grant: "a"))
        for number in 0..<3 {
            try database.run(
                "select pg_terminate_backend(pid) from pg_stat_activity "
                    + "where datname = current_database() and pid <> pg_backend_pid()")
            let outcome = try ledger.append(
                .give("pro", to: .test("long"), grant: "b\(number)"))
            #expect(outcome.events.map(\.version) == [Int64(Self.count + 2 + number)])
        }
    }

    @Test("Commands about many long streams and short ones all get their answers")
    func many() throws {
        let cold = database.ledger()
        defer { cold.close() }
        inParallel(16) { lane in
            for number in 0..<5 {
                let customer = lane % 2 == 0 ? "long" : "short\(lane)"
                let name = "\(lane)-\(number)"
                let outcome = Result {
                    try cold.append(.give("pro", to: .test(customer), grant: name))
                }
                #expect((try? outcome.get().events.count) == 1, "\(name): \(outcome)")
            }
        }
        #expect(try count(of: "long") == Int64(Self.count) + 40)
    }
}

@Suite("Batches of a long stream", .timeLimit(.minutes(20)))
struct LongBatchTests {
    private static let long = try? Core.Stream.test("long")

    private func adjust(_ key: String) throws -> Command {
        let wish = AdjustBalance(currency: id("coins"), amount: 1, reason: id("r"), ticket: nil)
        return .customer(
            try #require(Self.long), actor: id("test"),
            cause: Cause(text: "key:\(key)", digest: [UInt8](repeating: 0, count: 32))
        ) { state, _, _ throws(Refusal) in try state.decide(wish) }
    }

    @Test(
        "A call that comes twice in one batch, with hundreds of others between, is done once",
        arguments: [0, 600, 690, 780])
    func twiceInABatch(_ earlier: Int) throws {
        let database = try ScratchDatabase()
        let ledger = database.ledger(change: { $0.backgroundBatch = 512 })
        defer { ledger.close() }
        for number in 0..<earlier { _ = try ledger.append(adjust("e\(number)")) }
        let call = try adjust("twice")
        let others = try (0..<505).map { try adjust("o\($0)") }
        let results = ledger.appendAll([call] + others + [call], at: .service, isRehearsal: false)
        #expect(results.count == 507)
        let versions = try [results[0], results[506]].map { try $0.get().events.map(\.version) }
        #expect(versions[0] == versions[1])
        #expect(
            try database.number("select count(*) from deed.events where customer = 'long'")
                == Int64(earlier + 506))
    }

    @Test("What a key did with evidence before an erasure stays known, however much comes after it")
    func pieceBeforeErasure() throws {
        let database = try ScratchDatabase()
        let stream = try #require(Self.long)
        let call = Cause(text: "key:call", digest: [UInt8](repeating: 0, count: 32))
        let wish = AdjustBalance(currency: id("coins"), amount: 1, reason: id("r"), ticket: nil)
        let piece = Command.customer(stream, actor: id("test"), cause: call.ofPiece(0)) {
            state, _, _ throws(Refusal) in try state.decide(wish)
        }
        let first = database.ledger()
        _ = try first.append(piece)
        _ = try first.append(
            .customer(
                stream, actor: id("test"),
                cause: Cause(text: "key:erase", digest: [UInt8](repeating: 0, count: 32)),
                concernsMerged: true
            ) { _, _, _ in
                [.customerErased(CustomerErased(reason: id("r"), ticket: nil))]
            })
        for number in 0..<600 { _ = try first.append(adjust("e\(number)")) }
        first.close()
        let cold = database.ledger()
        defer { cold.close() }
        #expect(throws: CommandError.refused(.erasure(.doneBeforeErasure))) {
            try cold.append(piece)
        }
        #expect(throws: CommandError.refused(.erasure(.doneBeforeErasure))) {
            try cold.append(adjust("call"))
        }
    }
}
