import Core
import Foundation
import Glibc
import JSON
import Postgres
import TestSupport
import Testing

extension ProgramTests {
    @Suite("Reconciliations that are killed", .timeLimit(.minutes(5)))
    final class KilledReconciliations {
        private let database: ScratchDatabase
        private let ground: PracticeGround

        init() throws {
            database = try ScratchDatabase()
            ground = try PracticeGround(database)
            try ground.connect()
        }

        private func ask(_ method: String, _ path: String, _ body: JSON) throws {
            let answer = try ground.store.ask(method, path, body)
            #expect(answer.status == 200, "\(answer.json)")
        }

        private func send(_ path: String, _ body: JSON, method: String = "POST") throws {
            var client = try APIClient(key: ground.adminKey)
            let answer = try client.send(
                method, "\(ground.service.url)/v1/customers/\(path)", body: body.text)
            #expect(answer.status < 300, "\(answer.text)")
        }

        private func buy(_ customer: String, _ number: Int) throws {
            let token = "00000000-0000-4000-8000-00000000000\(number)"
            try send(
                "\(customer)/account_token", ["token": .string(token), "environment": "sandbox"],
                method: "PUT")
            try ask(
                "POST", "/practice/steps",
                [
                    "do": "buy", "customer": .string(customer), "product": "pro.month",
                    "token": .string(token),
                ])
        }

        /// Something to do for each step, and no service that would do it.
        private func leaveWork() throws {
            try buy("heard", 1)
            try ask("PUT", "/practice/trouble", ["drop": 1, "seed": 1])
            try buy("unheard", 2)
            try ask("POST", "/practice/advance", ["by": "40d"])
            try ask("PUT", "/practice/trouble", [:])
            for customer in ["u1", "u2"] {
                try send(
                    "\(customer)/grants",
                    ["entitlement": "pro", "reason": "test", "for": "PT1H"])
            }
            try send("u3/orders", ["product": "coins.100", "lifetime": "PT1H"])
            ground.service.process.signal(SIGTERM)
            #expect(ground.service.process.wait(milliseconds: 20_000) == 0)
            try database.run("update deed.test_clock set stands_at = stands_at + 2 * 3600000")
        }

        /// Alters a row behind Deed's back. Each step that writes a customer would put it right.
        private func spoilRow() throws {
            try database.run(
                """
                update deed.customers set runs = '{"pro": "{[1,2)}"}' where customer = 'u3'
                """)
        }

        /// Where a run of only that step is stopped while it writes.
        private static let writes: [(step: ReconcileStep, table: String, condition: String)] = [
            (.boundaries, "deed.events", "new.type = 'access.ended'"),
            (.subscriptions, "deed.events", "new.environment = 'sandbox'"),
            (.notifications, "deed.events", "new.environment = 'sandbox'"),
            (.intake, "deed.reconciled", "new.step = 'intake'"),
            (.orders, "deed.events", "new.type = 'order.closed'"),
            (.unclaimed, "deed.reconciled", "new.step = 'unclaimed'"),
            (.projections, "deed.customers", "new.customer = 'u3'"),
            (.chain, "deed.proven", "true"),
        ]

        private func reconcile(_ step: ReconcileStep) -> [String] {
            ["reconcile", "--only", step.rawValue, "--json"]
                + (step == .projections ? ["--full", "--repair"] : [])
        }

        /// The locks at which a run is stopped; other tests have theirs in other databases of the server.
        private static let locks = """
            select count(*) from pg_locks where locktype = 'advisory' and objid = 77
            and database = (select oid from pg_database where datname = current_database())
            """

        /// Kills a run at its first write of that kind.
        private func kill(
            _ step: ReconcileStep, at table: String, when condition: String
        ) throws {
            try database.run(
                """
                create function public.wait_here() returns trigger language plpgsql as
                'begin perform pg_advisory_xact_lock(77); return new; end';
                create trigger wait_here before insert or update on \(table)
                for each row when (\(condition)) execute function public.wait_here()
                """)
            var hold = try Connection.open(database.settings())
            try hold.run([Statement(name: "hold", text: "select pg_advisory_lock(77)")()]) { _, _ in
            }
            let (process, _, errors) = try ground.deed.start(reconcile(step), ground.variables)
            let isWaiting = try eventually(within: 30_000) {
                try database.number(KilledReconciliations.locks + " and not granted") > 0
            }
            #expect(
                isWaiting,
                "\(step): \((try? String(contentsOfFile: errors, encoding: .utf8)) ?? "")")
            process.signal(SIGKILL)
            _ = process.wait(milliseconds: 5000)
            try hold.run([Statement(name: "free", text: "select pg_advisory_unlock(77)")()]) {
                _, _ in
            }
            // The database hears of the death when it is done with what it was sent.
            #expect(
                try eventually(within: 30_000) {
                    try database.number(KilledReconciliations.locks) == 0
                })
            try database.run("drop function public.wait_here cascade")
        }

        @Test("Killed in each step and run again, it comes to the same, and no event twice")
        func eachStep() throws {
            try leaveWork()
            for (step, table, condition) in KilledReconciliations.writes {
                if step == .projections { try spoilRow() }
                try kill(step, at: table, when: condition)
                let again = try ground.deed.run(reconcile(step), variables: ground.variables)
                #expect(again.code == (step == .projections ? 1 : 0), "\(step): \(again.errors)")
                if step == .projections {
                    // Also where the database did, after the death, what it had been sent before.
                    let rows = try again.json["steps"]?["projections"]
                    #expect(rows?["found"] == 1 && rows?["mended"] == 1, "\(rows?.text ?? "")")
                }
                let listed = try ground.deed.run("reconcile", "list", "--json").json
                let ended = (listed["reconciliations"]?.array ?? []).map {
                    $0["finished_at"]?.isNull == false
                }
                #expect(ended.allSatisfy { $0 }, "\(step)")
            }
            #expect(try count("type = 'access.ended' and customer in ('u1', 'u2')") == 2)
            #expect(try count("type = 'order.closed'") == 1)
            #expect(try count("type = 'purchase.made' and customer = 'unheard'") == 1)
            #expect(try count("type = 'subscription.renewed' and customer = 'unheard'") == 1)
            #expect(try count("type = 'subscription.renewed' and customer = 'heard'") == 1)
            let whole = try ground.deed.run(
                ["reconcile", "--full", "--json"], variables: ground.variables)
            #expect(whole.code == 0, "\(whole.errors)")
            for member in try whole.json["steps"]?.object?.members ?? [] {
                #expect(member.value["found"] == 0, "\(member.name)")
            }
            #expect(try ground.deed.run("audit", "--projections").code == 0)
        }

        private func count(_ condition: String) throws -> Int64 {
            try database.number("select count(*) from deed.events where \(condition)")
        }
    }
}
