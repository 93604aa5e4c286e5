import Assembly
import Core
import Histories
import Postgres
import TestSupport
import Testing

@testable import Ledger
@testable import Service

/// Tests what a reconciliation finds in altered rows, and which run may work.
@Suite("A reconciliation's work")
final class ReconcilerTests {
    private let database: ScratchDatabase
    private let clock = TestClock()
    private let ledger: Ledger
    private let project: ProjectID = id("default")
    private let run: ReconciliationID = id("rc_test")

    init() throws {
        database = try ScratchDatabase()
        ledger = database.ledger(clock: clock.reading)
        _ = try ledger.append(
            .project(
                project, actor: id("test"),
                cause: Cause(text: "create", digest: [UInt8](repeating: 0, count: 32))
            ) { _, _ in [.projectCreated(ProjectCreated(project: id("default")))] })
        for number in 0..<10 {
            _ = try ledger.append(.give("pro", to: .test("u\(number)"), grant: "g1"))
        }
    }

    deinit { ledger.close() }

    private func steps(
        full: Bool = false, repairs: Bool = false, rehearsing: Bool = false,
        of project: ProjectID? = nil, _ walk: UnlistedWalk = UnlistedWalk()
    ) -> ProjectSteps {
        var wish = ReconcileWish(project: project ?? self.project)
        wish.plan.steps = [.projections]
        (wish.plan.isFull, wish.plan.repairs) = (full, repairs)
        wish.isRehearsal = rehearsing
        return ProjectSteps(wish, ledger, walk)
    }

    private func right() throws -> KeptLease? { try ledger.reconcileRight() }

    private func parts(full: Bool) -> [ReconcilePart] {
        var plan = ReconcilePlan(steps: [.projections])
        plan.isFull = full
        return ReconcilePart.all(of: plan)
    }

    /// Returns the counts from comparing the rows, either of all shards or of a sample.
    private func compare(full: Bool = false, repairs: Bool = false) throws -> StepCounts {
        let steps = steps(full: full, repairs: repairs)
        return try parts(full: full).reduce(into: StepCounts()) {
            $0 += try steps.reconcile($1, of: run, at: .run(nil)).counts
        }
    }

    @Test(
        "A row of a customer without events is drift, and a repair removes it",
        arguments: [false, true])
    func forged(full: Bool) throws {
        try database.run(
            """
            insert into deed.customers (shard, project, environment, customer, version,
                catalog_version, runs)
            values (deed.shard_of('default', 'production', 'ghost'), 'default', 'production',
                'ghost', 1, 0, '{"pro": "{[0,)}"}')
            """)
        #expect(try compare(full: full) == StepCounts(lookedAt: 11, found: 1))
        #expect(
            try compare(full: full, repairs: true)
                == StepCounts(lookedAt: 11, found: 1, mended: 1))
        #expect(try compare(full: full) == StepCounts(lookedAt: 10))
    }

    @Test("A row of an unknown environment is drift")
    func otherWorld() throws {
        try database.run(
            """
            insert into deed.customers (shard, project, environment, customer, version,
                catalog_version, runs) values (3, 'default', 'mars', 'u7', 1, 0, '{}')
            """)
        #expect(try compare().found == 1)
    }

    @Test("A customer with unreadable events is drift")
    func unreadable() throws {
        try database.run(
            """
            alter table deed.events disable trigger all;
            update deed.events set payload = '{}' where customer = 'u3'
            """)
        #expect(try compare().found == 1)
    }

    @Test(
        "Drift that cannot be repaired is reported, and blocks no other repair",
        arguments: [false, true])
    func unmendable(full: Bool) throws {
        try database.run(
            """
            update deed.customers set runs = '{}' where customer in ('u3', 'u4');
            create function deed.refuse() returns trigger language plpgsql as
            $$ begin raise exception 'not now' using errcode = 'P0001'; end $$;
            create trigger refuse before insert or update on deed.customers for each row
                when (new.customer = 'u3') execute function deed.refuse()
            """)
        let steps = steps(full: full, repairs: true)
        let reports = try parts(full: full).map { try steps.reconcile($0, of: run, at: .run(nil)) }
        #expect(
            reports.reduce(into: StepCounts()) { $0 += $1.counts }
                == StepCounts(lookedAt: 10, found: 2, mended: 1))
        #expect(reports.flatMap(\.errors).count == 1)
    }

    @Test("A deleted row is found by a full comparison, and written again")
    func deleted() throws {
        try database.run("delete from deed.customers where customer = 'u3'")
        #expect(try compare(full: true) == StepCounts(lookedAt: 10, found: 1))
        #expect(
            try compare(full: true, repairs: true)
                == StepCounts(lookedAt: 10, found: 1, mended: 1))
        #expect(try compare(full: true) == StepCounts(lookedAt: 10))
    }

    @Test("A purchase's row whose customer has none is drift, in its own project only")
    func orphans() throws {
        for name in ["default", "other"] {
            try database.run(
                """
                insert into deed.customer_balances
                values (deed.shard_of('\(name)', 'sandbox', 'u9'), '\(name)', 'sandbox', 'u9', 'coins', 5)
                """)
        }
        #expect(try compare(full: true).found == 1)
    }

    @Test("The sample comes from the project, however few of all customers it has")
    func sample() throws {
        for number in 0..<300 {
            _ = try ledger.append(
                .give("pro", to: .test("o\(number)", project: "other"), grant: "g1"))
        }
        #expect(try compare().lookedAt == 10)
    }

    @Test("Findings from before a run was killed are reported by the one that resumes it")
    func killed() throws {
        try database.run("update deed.customers set runs = '{}' where customer in ('u3', 'u4')")
        let stream = try Stream.test("u3")
        let part = ReconcilePart(step: .projections, shard: stream.shard)
        // The run repairs the rows and dies before it records that.
        let mended = try steps(full: true, repairs: true).reconcile(part, of: run, at: .run(nil))
            .counts
        #expect(mended.found >= 1 && mended.mended == mended.found)
        let next = steps(full: true, repairs: true)
        #expect(try ledger.notedParts(of: project, in: run)[part]?.isDone == false)
        let again = try next.reconcile(part, of: run, at: .run(nil)).counts
        #expect(again.found == mended.found && again.mended == mended.found)
        // Another run finds the rows intact.
        #expect(try next.reconcile(part, of: id("rc_other"), at: .run(nil)).counts.found == 0)
    }

    @Test("The right to reconcile ends with its session, and the run learns of that")
    func lostRight() throws {
        let one = try #require(try right())
        #expect(one.isHeld)
        #expect(try right() == nil)
        try database.run("select pg_terminate_backend(session) from deed.leases")
        var other: KeptLease?
        #expect(
            try eventually(within: 10_000) {
                other = try right()
                return other != nil
            })
        #expect(eventually(within: 10_000) { !one.isHeld })
        // Returning the right late does not affect the other run.
        one.giveBack()
        #expect(other?.isHeld == true)
        #expect(try right() == nil)
        other?.giveBack()
        try #require(try right()).giveBack()
    }

    @Test("A run whose right another one took over writes nothing more")
    func overtakenRight() throws {
        let one = try #require(try right())
        defer { one.giveBack() }
        try database.run("update deed.customers set runs = '{}' where customer = 'u3'")
        // The run was suspended and does not know that its lease is lost.
        try database.run("update deed.leases set fence = fence + 1")
        let part = ReconcilePart(step: .projections, shard: try Stream.test("u3").shard)
        let late = steps(full: true, repairs: true).reconcile([part], of: run, under: one.lease)
        #expect(throws: Fault.leaseLost) { try late[0].get() }
        let rows = try database.number("select count(*) from deed.customers where runs = '{}'")
        #expect(rows == 1)
        let commands = [Command.publishing(try .test("u3"))]
        let answers = ledger.appendAll(commands, at: .run(one.lease), isRehearsal: false)
        #expect(throws: CommandError.fault(.leaseLost)) { try answers[0].get() }
    }

    @Test("A suspended run's right ends with its lease")
    func frozenRight() throws {
        let one = try #require(try right())
        defer { one.giveBack() }
        clock.advance(byMilliseconds: 14_999)
        #expect(try right() == nil)
        clock.advance(byMilliseconds: 1)
        try #require(try right()).giveBack()
    }

    @Test("One walk of the log finds customers without a row, of each project in turn")
    func oneWalk() throws {
        let other = try ProjectID("other")
        for project in [project, other] {
            let stream = Stream(project: project, environment: .production, customer: id("u1"))
            _ = try ledger.append(.give("pro", to: stream, grant: "g1"))
        }
        func spoil(_ project: ProjectID) throws {
            try database.run(
                "delete from deed.customers where customer = 'u1' and project = '\(project)'")
        }
        func found(_ project: ProjectID, _ walk: UnlistedWalk) throws -> Int64 {
            let steps = steps(full: true, rehearsing: true, of: project, walk)
            return try parts(full: true).reduce(0) {
                $0 + (try steps.reconcile($1, of: run, at: .run(nil)).counts.found)
            }
        }
        try spoil(other)
        let walk = UnlistedWalk()
        #expect(try found(project, walk) == 0)
        // The walk has passed this row, so only the next walk finds the damage.
        try spoil(project)
        #expect(try found(other, walk) == 1)
        #expect(try found(project, walk) == 0)
        #expect(try found(project, UnlistedWalk()) == 1)
        // If there are more projects than the limit, each project has a separate walk.
        let narrow = UnlistedWalk(limit: 1)
        #expect(try found(other, narrow) == 1)
        #expect(try found(project, narrow) == 1)
    }
}
