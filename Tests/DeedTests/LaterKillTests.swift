import Core
import Foundation
import Glibc
import Histories
import JSON
import TestSupport
import Testing

extension ProgramTests {
    @Suite("Reconciliations killed at a later write", .timeLimit(.minutes(30)))
    final class LaterKills {
        private static let crowd = 5
        /// How often to kill each step. Each time, the test uses a new database.
        private static let kills = givenCount("DEED_KILLS", or: 3)

        private let database: ScratchDatabase
        private let ground: PracticeGround

        init() throws {
            database = try ScratchDatabase()
            ground = try PracticeGround(database)
            try ground.connect()
            try ground.leaveWork(in: database, of: LaterKills.crowd)
        }

        /// The result of a run.
        private struct End: Equatable {
            /// All customers' events, without the parts that differ from one store call to another.
            let events: String
            let proven: Int64
            let noted: Int64
            let unfinished: Int64
            /// How much drift the runs reported. Killing a run must not hide any.
            let drift: Int64
        }

        @Test("Killed at any write and run again, it has the result of an undisturbed run")
        func anyWrite() throws {
            var random = seededGenerator("kills at any write")
            for step in ReconcileStep.allCases {
                let (writes, wanted) = try wholeRun(of: step)
                #expect(wanted.events.contains("grant.given"))
                // A run writes at least five rows about itself.
                try #require(writes > 5, "\(step)")
                for _ in 0..<LaterKills.kills {
                    let place = Int64.random(in: 2...writes, using: &random)
                    let isCommitted = Bool.random(using: &random)
                    let outcome = isCommitted ? "committed" : "taken back"
                    let what = "\(step.rawValue), write \(place) of \(writes), \(outcome)"
                    let copy = try copy(for: step)
                    let deed = try Installation(copy)
                    try kill(step, at: place, of: copy, isCommitted: isCommitted, deed, what)
                    let again = try deed.run(step.command, variables: ground.variables)
                    #expect(again.code == 0 || step == .projections, "\(what): \(again.errors)")
                    #expect(try end(copy, deed) == wanted, "\(what)")
                    #expect(try deed.run("audit", "--projections").code == 0, "\(what)")
                }
            }
        }

        private func copy(for step: ReconcileStep) throws -> ScratchDatabase {
            let copy = try ScratchDatabase(copying: database)
            if step == .projections { try copy.spoilRows() }
            return copy
        }

        /// Returns the number of rows that a complete run of the step writes, and the result of that run.
        private func wholeRun(of step: ReconcileStep) throws -> (writes: Int64, end: End) {
            let copy = try copy(for: step)
            let deed = try Installation(copy)
            try countWrites(in: copy, stoppingAt: 0)
            let run = try deed.run(step.command, variables: ground.variables)
            #expect(run.code == (step == .projections ? 1 : 0), "\(step): \(run.errors)")
            let writes = try copy.number("select last_value from public.writes")
            return (writes, try end(copy, deed))
        }

        /// Counts all written rows, including rows that are rolled back, and stops a run at one of them.
        private func countWrites(in copy: ScratchDatabase, stoppingAt place: Int64) throws {
            try copy.run(
                """
                create sequence public.writes;
                create function public.count_write() returns trigger
                language plpgsql security definer as $$
                begin
                    if nextval('public.writes') = \(place) then
                        perform pg_advisory_xact_lock(\(Stop.key));
                    end if;
                    return coalesce(new, old);
                end $$;
                do $$
                declare
                    place regclass;
                begin
                    for place in
                        select oid from pg_class where relnamespace = 'deed'::regnamespace
                            and relkind = 'r'
                    loop
                        execute format('create trigger a_count_write before insert or update or delete on %s '
                            'for each row execute function public.count_write()', place);
                    end loop;
                end $$
                """)
        }

        /// Kills a run while it writes that row. What it has sent is then either committed or rolled back.
        private func kill(
            _ step: ReconcileStep, at place: Int64, of copy: ScratchDatabase, isCommitted: Bool,
            _ deed: Installation, _ what: String
        ) throws {
            try countWrites(in: copy, stoppingAt: place)
            var stop = try Stop(copy)
            let (process, _, errors) = try deed.start(step.command, ground.variables)
            #expect(
                try stop.isReached(),
                "\(what): \((try? String(contentsOfFile: errors, encoding: .utf8)) ?? "")")
            process.signal(SIGKILL)
            _ = process.wait(milliseconds: 5000)
            if !isCommitted { try stop.endSession() }
            try stop.free()
            try copy.run("drop function public.count_write cascade")
        }

        private func end(_ copy: ScratchDatabase, _ deed: Installation) throws -> End {
            let listed = try deed.run("reconcile", "list", "--json").json["reconciliations"]?.array
            return End(
                events: try events(in: copy),
                proven: try copy.number("select count(*) from deed.proven"),
                noted: try copy.number("select count(*) from deed.reconciled"),
                unfinished: Int64((listed ?? []).count { $0["finished_at"]?.isNull != false }),
                drift: (listed ?? []).compactMap { $0["drift"]?.integer }.max() ?? 0)
        }

        private func events(in copy: ScratchDatabase) throws -> String {
            try copy.text(
                """
                select coalesce(string_agg(concat_ws(' ', customer, environment, version, type,
                    payload, occurred_at, actor, catalog_version), chr(10)
                    order by customer, environment, version), '')
                from deed.events where customer not like '$%'
                """)
        }
    }
}
