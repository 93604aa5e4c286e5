import Core
import Ledger
import TestSupport
import Testing

@Suite("Long streams", .timeLimit(.minutes(5)))
struct LongStreamTests {
    private let database: ScratchDatabase
    private static let count = 1200

    /// A customer whose events are more than a commit takes in while shards are locked.
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
