import Glibc
import JSON
import Ledger
import Postgres
import TestSupport
import Testing

extension ProgramTests {
    @Suite("Reconciliations by a service", .timeLimit(.minutes(20)))
    final class ReconcilingServices {
        private let database: ScratchDatabase
        private let deed: Installation

        init() throws {
            database = try ScratchDatabase()
            deed = try Installation(database)
        }

        private func request(
            _ service: RunningService, _ client: inout APIClient, _ body: String = "{}"
        ) throws -> (status: Int, json: JSON) {
            let answer = try client.send(
                "POST", "\(service.url)/v1/reconciliations", body: body)
            return (answer.status, try JSON.read(answer.text))
        }

        private func finished(
            _ id: String, _ service: RunningService, _ client: inout APIClient
        ) throws -> JSON? {
            let told = try client.read("\(service.url)/v1/reconciliations/\(id)")
            return told["finished_at"]?.isNull == false ? told : nil
        }

        @Test("The service does a requested run, with the named steps")
        func requested() throws {
            let key = try deed.makeKey()
            let service = try deed.serve()
            var client = try APIClient(key: key)
            let accepted = try request(service, &client, #"{"only":["chain","boundaries"]}"#)
            #expect(accepted.status == 202)
            let id = try #require(accepted.json["reconciliation"]?.string)
            var told: JSON?
            let isDone = try eventually(within: 30_000) {
                told = try finished(id, service, &client)
                return told != nil
            }
            #expect(isDone)
            #expect(told?["steps"]?.object?.members.map(\.name) == ["boundaries", "chain"])
            #expect(told?["errors"] == [])
            #expect(try request(service, &client, #"{"only":[]}"#).status == 400)
            #expect(try request(service, &client, #"{"only":["all"]}"#).status == 400)
            for flag in ["full", "repair"] {
                let idle = try request(
                    service, &client, #"{"only":["boundaries"],"\#(flag)":true}"#)
                #expect(idle.status == 400 && idle.json["member"]?.string == flag, "\(idle)")
            }
        }

        @Test("A second one is refused while one runs, and the next service does a killed one's")
        func running() throws {
            let key = try deed.makeKey()
            let service = try deed.serve()
            var client = try APIClient(key: key)
            // The reconciliation has to wait for this lock.
            var hold = try Connection.open(database.settings())
            try hold.run([
                Statement("begin")(),
                Statement("lock table deed.reconciled in share mode")(),
            ]) { _, _ in }
            let accepted = try request(service, &client)
            #expect(accepted.status == 202)
            let id = try #require(accepted.json["reconciliation"]?.string)
            let waiting = """
                select count(*) from pg_locks where not granted
                and database = (select oid from pg_database where datname = current_database())
                """
            #expect(try eventually(within: 30_000) { try database.number(waiting) > 0 })
            let refused = try request(service, &client)
            #expect(refused.status == 409)
            #expect(refused.json["code"] == "reconciliation_running")
            #expect(refused.json["retryable"] == true)
            service.process.signal(SIGKILL)
            _ = service.process.wait(milliseconds: 5000)
            try hold.run([Statement("rollback")()]) { _, _ in }

            let next = try deed.serve()
            #expect(
                try eventually(within: 30_000) { try finished(id, next, &client) != nil })
            let listed = try client.read("\(next.url)/v1/reconciliations")
            #expect(listed["reconciliations"]?.array?.count == 1)
            #expect(try deed.run("audit", "--projections").code == 0)
        }

        @Test("The nightly run waits for a current one")
        func waiting() throws {
            let key = try deed.makeKey()
            let service = try deed.serve("--test-clock", "--reconcile-at", "03:00")
            var client = try APIClient(key: key)
            let ledger = database.ledger(clock: machineInstant)
            defer { ledger.close() }
            let other = try #require(try ledger.reconcileRight())
            _ = try client.send(
                "PUT", "\(service.url)/v1/test/clock", body: #"{"now":"2030-01-01T04:00:00Z"}"#)
            func runs() throws -> [JSON] {
                try client.read("\(service.url)/v1/reconciliations")["reconciliations"]?.array ?? []
            }
            #expect(try runs().isEmpty)
            try other.end()
            #expect(
                try eventually(within: 30_000) {
                    try runs().map { $0["finished_at"]?.isNull } == [false]
                })
        }

        @Test("With --reconcile-at every project is reconciled once a day at that time")
        func daily() throws {
            let key = try deed.makeKey()
            let service = try deed.serve("--test-clock", "--reconcile-at", "03:00")
            var client = try APIClient(key: key)
            func runs(at instant: String) throws -> Int {
                let moved = try client.send(
                    "PUT", "\(service.url)/v1/test/clock", body: #"{"now":"\#(instant)"}"#)
                #expect(moved.status == 200)
                let listed = try client.read("\(service.url)/v1/reconciliations")
                let all = listed["reconciliations"]?.array ?? []
                #expect(all.allSatisfy { $0["finished_at"]?.isNull == false })
                return all.count
            }
            // A single run makes up for all missed nights.
            #expect(try runs(at: "2030-01-01T04:00:00Z") == 1)
            #expect(try runs(at: "2030-01-02T02:59:59Z") == 1)
            #expect(try runs(at: "2030-01-02T03:00:00Z") == 2)
            #expect(try runs(at: "2030-01-02T23:00:00Z") == 2)
        }
    }
}
