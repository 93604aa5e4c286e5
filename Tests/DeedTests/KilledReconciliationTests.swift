import Core
import Foundation
import Glibc
import JSON
import TestSupport
import Testing

extension ProgramTests {
    @Suite("Killed reconciliations", .timeLimit(.minutes(20)))
    final class KilledReconciliations {
        private let database: ScratchDatabase
        private let ground: PracticeGround

        init() throws {
            database = try ScratchDatabase()
            ground = try PracticeGround(database)
            try ground.connect()
        }

        /// Where to kill a run that has only this step.
        private static let writes: [(step: ReconcileStep, table: String, condition: String)] = [
            (.boundaries, "deed.events", "new.type = 'access.ended'"),
            (.subscriptions, "deed.events", "new.environment = 'sandbox'"),
            (.notifications, "deed.events", "new.environment = 'sandbox'"),
            (.history, "deed.history_questions", "true"),
            (.intake, "deed.reconciled", "new.step = 'intake'"),
            (.orders, "deed.events", "new.type = 'order.closed'"),
            (.unclaimed, "deed.reconciled", "new.step = 'unclaimed'"),
            (.projections, "deed.customers", "new.customer = 'ordering-0'"),
            (.chain, "deed.proven", "true"),
        ]

        /// Kills a run at its first write of that kind.
        private func kill(
            _ step: ReconcileStep, at table: String, when condition: String
        ) throws {
            try database.run(
                """
                create function public.wait_here() returns trigger language plpgsql as
                'begin perform pg_advisory_xact_lock(\(Stop.key)); return new; end';
                create trigger wait_here before insert or update on \(table)
                for each row when (\(condition)) execute function public.wait_here()
                """)
            var stop = try Stop(database)
            let (process, _, errors) = try ground.deed.start(step.command, ground.variables)
            #expect(
                try stop.isReached(),
                "\(step): \((try? String(contentsOfFile: errors, encoding: .utf8)) ?? "")")
            process.signal(SIGKILL)
            _ = process.wait(milliseconds: 5000)
            try stop.free()
            try database.run("drop function public.wait_here cascade")
        }

        @Test("Killed in each step and run again, it has the same result, and no event twice")
        func eachStep() throws {
            try ground.leaveWork(in: database)
            for (step, table, condition) in KilledReconciliations.writes {
                if step == .projections { try database.spoilRows() }
                try kill(step, at: table, when: condition)
                let again = try ground.deed.run(step.command, variables: ground.variables)
                #expect(again.code == (step == .projections ? 1 : 0), "\(step): \(again.errors)")
                if step == .projections {
                    // This also holds if the database still finished some work after the run was killed.
                    let rows = try again.json["steps"]?["projections"]
                    #expect(rows?["found"] == 1 && rows?["mended"] == 1, "\(rows?.text ?? "")")
                }
                let listed = try ground.deed.run("reconcile", "list", "--json").json
                let ended = (listed["reconciliations"]?.array ?? []).map {
                    $0["finished_at"]?.isNull == false
                }
                #expect(ended.allSatisfy { $0 }, "\(step)")
            }
            #expect(try count("type = 'access.ended' and customer in ('first-0', 'second-0')") == 2)
            #expect(try count("type = 'order.closed'") == 1)
            #expect(try count("type = 'purchase.made' and customer = 'unheard-0'") == 1)
            #expect(try count("type = 'subscription.renewed' and customer = 'unheard-0'") == 1)
            #expect(try count("type = 'subscription.renewed' and customer = 'heard-0'") == 1)
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
