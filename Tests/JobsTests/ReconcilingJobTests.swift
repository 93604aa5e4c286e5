import Core
import Ledger
import Service
import Synchronization
import Telemetry
import TestSupport
import Testing
import Threading

@testable import Jobs

@Suite("The nightly job", .timeLimit(.minutes(20)))
struct ReconcilingJobTests {
    private let service: TestService
    /// The projects whose runs reached their work, in order, and the project that another run blocks.
    private let work = Work()

    private final class Work: Sendable {
        let done = Mutex<[ProjectID]>([])
        let broken = Mutex<ProjectID?>(nil)
        /// How many more times another run is in progress.
        let refusals = Mutex(0)

        var projects: [String] { done.withLock { $0.map(\.text) } }
    }

    private struct OneRun: ReconcileSteps, ReconcileRights, ReconcileRight {
        let project: ProjectID
        let work: Work
        let isHeld = true
        let lease = Lease(name: "reconciliation", fence: 1)

        func reconcileRight() throws(Fault) -> OneRun? {
            if work.broken.withLock({ $0 }) == project { throw .logBlocked }
            return work.refusals.withLock { refusals in
                refusals -= 1
                return refusals < 0 ? self : nil
            }
        }

        func giveBack() {}
        func prepare() {}

        func reconcile(
            _ parts: [ReconcilePart], of id: ReconciliationID, under lease: Lease
        ) -> [Result<PartReport, Fault>] {
            parts.map { part in
                if part.step == .intake { work.done.withLock { $0.append(project) } }
                return .success(PartReport())
            }
        }
    }

    private var port: @Sendable (ReconcileWish) -> ReconcilePort {
        { [service, work] wish in
            var port = service.reconcilePort(wish)
            let run = OneRun(project: wish.project, work: work)
            (port.rights, port.steps) = (run, run)
            return port
        }
    }

    /// Creates the projects `a` to `c`, in addition to `default`.
    init() throws {
        service = try TestService()
        for project in ["a", "b", "c"] { try service.createProject(project) }
    }

    private func run(_ job: Job) throws(Fault) {
        _ = try job.work(Run(startedAt: service.clock.now, lease: nil) { true })
    }

    private func nightly() throws -> Job {
        .reconciling(
            at: try #require(TimeOfDay("03:00")), service.intake, log: service.logged.log,
            port)
    }

    @Test(
        "A project that fails blocks no other, and none is done twice a night"
    )
    func faultOfOne() throws {
        let job = try nightly()
        work.broken.withLock { $0 = try? ProjectID("b") }
        #expect(throws: Fault.logBlocked) { try run(job) }
        #expect(work.projects == ["a", "c", "default"])
        // The run resumes and does not repeat finished parts.
        #expect(throws: Fault.logBlocked) { try run(job) }
        work.broken.withLock { $0 = nil }
        try run(job)
        #expect(work.projects == ["a", "c", "default", "b"])
        try run(job)
        #expect(work.projects.count == 4)
        service.clock.advance(byMilliseconds: 86_400_000)
        try run(job)
        #expect(work.projects.count == 8)
    }

    @Test(
        "After a clock was weeks ahead, each project is reconciled every night, once, and the metric tells when"
    )
    func clockSetBack() throws {
        let job = try nightly()
        let day: Int64 = 86_400_000
        let metrics = Metrics()
        let ledger = service.database.ledger(clock: service.clock.reading)
        defer { ledger.close() }
        let reconciled = Job.reconciled(ledger, metrics: metrics)
        func told() throws -> Int64? {
            try run(reconciled)
            let line = metrics.text().firstMatch(
                of: /\ndeed_reconciled_timestamp_seconds (\d+)\n/)
            return line.flatMap { Int64($0.1) }
        }
        let created = service.clock.now.milliseconds / 1000
        service.clock.advance(byMilliseconds: 40 * day)
        try run(job)
        #expect(work.projects.count == 4)
        service.clock.advance(byMilliseconds: -40 * day)
        // No night is known, so the metric must not make the projects seem reconciled.
        #expect(try told() == created)
        try run(job)
        #expect(work.projects.count == 8)
        // The log's time stays ahead, but the runs of this night are recognized.
        try run(job)
        #expect(work.projects.count == 8)
        for night in 1...2 {
            service.clock.advance(byMilliseconds: day)
            try run(job)
            #expect(work.projects.count == 8 + 4 * night)
        }
        let now = service.clock.now
        let lease = try #require(
            try ledger.takeLease(
                of: "reconciling", at: now, until: now.advanced(byMilliseconds: 15_000),
                lastRun: nil))
        try ledger.end(lease, ranAt: now)
        #expect(try told() == now.milliseconds / 1000)
        let state = try service.ledger.project(ProjectID("a"))
        #expect(state.unreconciledSince(by: now) == now)
        // The log's time has caught up, and the night in whose name the wrong clock ran is not skipped.
        service.clock.advance(byMilliseconds: 38 * day)
        try run(job)
        #expect(work.projects.count == 20)
    }

    @Test("A requested run that fails does not delay another")
    func requested() throws {
        let sender = Sender(actor: try Actor("test"), idempotencyKey: nil)
        for project in ["a", "b"] {
            _ = try service.ledger.perform(
                service.useCases.reconciliations.requesting(
                    ReconcilePlan(), of: ProjectID(project), by: sender))
            service.clock.advance(byMilliseconds: 1000)
        }
        work.broken.withLock { $0 = try? ProjectID("a") }
        let ledger = service.database.ledger(clock: service.clock.reading)
        defer { ledger.close() }
        let job = Job.requested(ledger, service.intake, log: service.logged.log) {
            [port] wish, _ in port(wish)
        }
        #expect(throws: Fault.logBlocked) { try run(job) }
        #expect(work.projects == ["b"])
        work.broken.withLock { $0 = nil }
        try run(job)
        try run(job)
        #expect(work.projects == ["b", "a"])
    }

    @Test("A run of some steps is no nightly run")
    func narrow() throws {
        var wish = ReconcileWish(project: try ProjectID("a"))
        wish.plan.steps = [.intake]
        let sender = Sender(actor: try Actor("test"), idempotencyKey: nil)
        _ = try service.intake.reconcile(wish, port(wish), by: sender)
        try run(try nightly())
        #expect(work.projects == ["a", "a", "b", "c", "default"])
    }

    @Test("A project whose turn another run has taken waits for it, and is not skipped")
    func raced() throws {
        work.refusals.withLock { $0 = 2 }
        let clock = ContinuousClock()
        let (job, finished) = (try nightly(), Monitor(false))
        let service = service
        startThread("night") {
            _ = try? job.work(Run(startedAt: service.clock.now, lease: nil) { true })
            finished.change { $0 = true }
        }
        let began = clock.now
        #expect(finished.wait(milliseconds: 30_000) { $0 ? true : nil } == true)
        #expect(clock.now - began > .milliseconds(900))
        #expect(work.projects == ["a", "b", "c", "default"])
    }
}
