import Glibc
import Histories
import JSON
import Synchronization
import TestSupport
import Testing
import Threading

/// Runs the tests of the built program one after another, because each test loads the machine.
@Suite("The program", .serialized)
struct ProgramTests {}

extension ProgramTests {
    @Suite("What was acknowledged", .serialized, .timeLimit(.minutes(20)))
    struct Durability {
        private static let rounds = 10

        @Test(
            "An answered grant exists exactly once, however often the service is killed")
        func serviceKilled() throws {
            let database = try ScratchDatabase()
            let installation = try Installation(database)
            var random = seededGenerator("kills of the service")
            var service = try installation.serve()
            let writers = try GrantWriters(service.url, key: installation.makeKey())
            for _ in 0..<Durability.rounds {
                let before = writers.count
                pause(milliseconds: Int64.random(in: 100...900, using: &random))
                #expect(eventually(within: 30_000) { writers.count > before + 32 })
                service.process.signal(SIGKILL)
                #expect(service.process.wait(milliseconds: 5000) == 128 + SIGKILL)
                service = try installation.serve()
                writers.moveTo(service.url)
            }
            pause(milliseconds: 300)
            try verify(writers, installation, service)
        }

        @Test("An answered grant exists exactly once, however often PostgreSQL is killed")
        func postgresKilled() throws {
            let installation = try Installation()
            var random = seededGenerator("kills of PostgreSQL")
            let service = try installation.serve()
            let writers = try GrantWriters(service.url, key: installation.makeKey())
            for _ in 0..<Durability.rounds {
                pause(milliseconds: Int64.random(in: 100...700, using: &random))
                for process in installation.postgresProcesses { kill(process, SIGKILL) }
                let before = writers.count
                #expect(eventually(within: 30_000) { writers.count > before + 64 })
            }
            try verify(writers, installation, service)
            #expect(service.process.wait(milliseconds: 0) == nil)
        }

        private func verify(
            _ writers: GrantWriters, _ installation: Installation, _ service: RunningService
        ) throws {
            let answered = writers.stop()
            #expect(writers.unexpected == [])
            #expect(answered.count > 32 * Durability.rounds)
            let key = try installation.makeKey("reader")
            var client = try APIClient(key: key)
            var recorded: [String: String] = [:]
            for customer in Set(answered.map(\.customer)) {
                for event in try client.events(of: customer, at: service.url) {
                    let cause = try #require(event["cause"]?.string)
                    let grant = try #require(event["data"]?["grant"]?.string)
                    #expect(recorded.updateValue(grant, forKey: cause) == nil, "\(cause) is twice")
                }
            }
            for answer in answered {
                #expect(
                    recorded[answer.cause] == answer.grant, "\(answer.cause) of \(answer.customer)")
            }
            #expect(recorded.count == answered.count)
            try installation.expectWholeLog()
            print("\(answered.count) grants were answered")
        }
    }
}

extension Installation {
    /// Expects the audit to find nothing, and the positions of each shard to be 1 to n.
    func expectWholeLog() throws {
        let audit = try run("audit", "--json")
        #expect(audit.code == 0)
        #expect(try audit.json["findings"] == [])
        let count = try queriedNumber("select count(*) from deed.events", at: databaseURL)
        #expect(try audit.json["events"]?.integer == count)
        let holes = """
            select count(*) from deed.shards as s where head <> (
                select count(*) from deed.events as e
                where e.shard = s.shard and e.seq between 1 and s.head)
            """
        #expect(try queriedNumber(holes, at: databaseURL) == 0)
    }
}

/// Random numbers with a printed seed, so that a run can be investigated.
func seededGenerator(_ name: String) -> SeededGenerator {
    SeededGenerator(seed: printedSeed(of: name))
}
