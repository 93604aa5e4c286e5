import Glibc
import Histories
import JSON
import Minting
import SQL
import TestSupport
import Testing
import Threading

extension ProgramTests {
    @Suite("Submitted evidence", .serialized, .timeLimit(.minutes(20)))
    struct SubmissionDurability {
        private static let rounds = 20

        @Test(
            "An answered purchase exists exactly once, however often the service is killed"
        )
        func serviceKilled() throws {
            let database = try ScratchDatabase()
            let installation = try Installation(database)
            let folder = try EvidenceFolder()
            try installation.sell(in: folder)
            let serve = { try installation.serve("--extra-roots", "\(folder.path)/roots") }
            var random = seededGenerator("kills of the service amid submissions")
            var service = try serve()
            let writers = try SubmissionWriters(service.url, key: installation.makeKey())
            for _ in 0..<SubmissionDurability.rounds {
                pause(milliseconds: Int64.random(in: 300...900, using: &random))
                service.process.signal(SIGKILL)
                #expect(service.process.wait(milliseconds: 5000) == 128 + SIGKILL)
                service = try serve()
                writers.moveTo(service.url)
            }
            pause(milliseconds: 300)
            try verify(writers, installation, service)
        }

        @Test(
            "An answered purchase exists exactly once, however often PostgreSQL is killed"
        )
        func postgresKilled() throws {
            let installation = try Installation()
            let folder = try EvidenceFolder()
            var random = seededGenerator("kills of PostgreSQL amid submissions")
            let service = try installation.serve("--extra-roots", "\(folder.path)/roots")
            try installation.sell(in: folder)
            let writers = try SubmissionWriters(service.url, key: installation.makeKey())
            for _ in 0..<SubmissionDurability.rounds {
                pause(milliseconds: Int64.random(in: 100...500, using: &random))
                for process in installation.postgresProcesses { kill(process, SIGKILL) }
                let before = writers.count
                #expect(eventually(within: 30_000) { writers.count > before + 48 })
            }
            try verify(writers, installation, service)
            #expect(service.process.wait(milliseconds: 0) == nil)
        }

        @Test(
            "An answered purchase exists exactly once, however often the connection loses a commit"
        )
        func commitsLost() throws {
            let database = try ScratchDatabase()
            let installation = try Installation(database)
            let folder = try EvidenceFolder()
            try installation.sell(in: folder)
            let proxy = try PostgresProxy(database.url)
            var random = seededGenerator("commits lost amid submissions")
            let service = try installation.serve(
                "--extra-roots", "\(folder.path)/roots", "--database-url", proxy.url)
            let writers = try SubmissionWriters(service.url, key: installation.makeKey())
            for round in 0..<(2 * SubmissionDurability.rounds) {
                pause(milliseconds: Int64.random(in: 0...100, using: &random))
                let before = writers.count
                let loss = PostgresProxy.Loss.allCases[round % 2]
                proxy.lose(
                    loss, of: .commit, after: .insertEvents,
                    times: Int.random(in: 1...3, using: &random))
                #expect(
                    eventually(within: 30_000) { proxy.left == 0 && writers.count > before + 6 })
            }
            try verify(writers, installation, service)
            #expect(service.process.wait(milliseconds: 0) == nil)
        }

        private func verify(
            _ writers: SubmissionWriters, _ installation: Installation, _ service: RunningService
        ) throws {
            let answered = writers.stop()
            #expect(writers.unexpected == [])
            #expect(answered.count > 8 * SubmissionDurability.rounds)
            let key = try installation.makeKey("reader")
            var client = try APIClient(key: key)
            var held: [String: String] = [:]
            for customer in Set(answered.map(\.customer)) {
                let path = "\(service.url)/v1/customers/\(customer)"
                var credits = 0
                for event in try client.sandboxEvents(at: path) {
                    let data = event["data"]
                    switch event["type"]?.string {
                    case "balance.credited": credits += 1
                    case "purchase.made":
                        let name = try #require(data?["transaction"]?.string)
                        #expect(held.updateValue(customer, forKey: name) == nil, "\(name) is twice")
                    case "purchase.attached":
                        let name = try #require(
                            data?["transactions"]?.array?.first?["transaction"]?.string)
                        #expect(held.updateValue(customer, forKey: name) == nil, "\(name) is twice")
                    default: break
                    }
                }
                let own = held.values.count { $0 == customer }
                let balances = try client.read("\(path)/balances?environment=sandbox")
                #expect(credits == own)
                #expect(balances["balances"]?["coins"]?.integer == Int64(100 * own))
            }
            for answer in answered {
                #expect(held[answer.transaction] == answer.customer, "\(answer.transaction)")
            }
            #expect(held.count == answered.count)
            try installation.expectWholeLog()
            let lost = answered.count { !$0.isNew }
            print("\(answered.count) purchases were answered, \(lost) of them when sent again")
        }
    }
}

extension APIClient {
    mutating func sandboxEvents(at customer: String) throws -> [JSON] {
        var events: [JSON] = []
        var after: Int64? = 0
        while let version = after {
            let page = try read(
                "\(customer)/events?environment=sandbox&limit=1000&after=\(version)")
            events += page["events"]?.array ?? []
            after = page["next"]?.integer
        }
        return events
    }
}
