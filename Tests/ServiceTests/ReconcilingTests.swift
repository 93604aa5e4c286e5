import Core
import Service
import TestSupport
import Testing

/// Tests the course of a reconciliation with work that the test controls.
@Suite("Reconciliations")
struct ReconcilingTests {
    /// The work done, and the records about it.
    private final class Work: RunNotes, ReconcileSteps, ReconcileRights, ReconcileRight {
        var done: [ReconcilePart] = []
        var noted: [ReconcilePart: StepCounts] = [:]
        var broken: [ReconcilePart] = []
        var isHeld = true
        let lease = Lease(name: "reconciliation", fence: 1)
        /// Whether the next commit fails because another run has the right.
        var isOvertaken = false
        /// What else happens while a part is done.
        var meanwhile: [ReconcilePart: () -> Void] = [:]
        /// The maximum number of parts of each step that were done at the same time.
        var width: [ReconcileStep: Int] = [:]
        var time: Int64 = 0

        func reconcileRight() -> Work? { self }
        func giveBack() {}
        func prepare() {}

        func notedParts(
            of project: ProjectID, in id: ReconciliationID
        ) -> [ReconcilePart: NotedPart] { noted.mapValues { ($0, true) } }

        func note(
            _ part: ReconcilePart, _ counts: StepCounts, isDone: Bool, of project: ProjectID,
            in id: ReconciliationID
        ) { noted[part] = counts }

        func forgetParts(of project: ProjectID) { noted = [:] }

        func reconcile(
            _ parts: [ReconcilePart], of id: ReconciliationID, under lease: Lease
        ) -> [Result<PartReport, Fault>] {
            for part in parts { width[part.step] = max(width[part.step] ?? 0, parts.count) }
            return parts.map { part in
                Result { () throws(Fault) in try report(part) }
            }
        }

        private func report(_ part: ReconcilePart) throws(Fault) -> PartReport {
            if isOvertaken { throw .leaseLost }
            if broken.contains(part) { throw .broken("the table is gone") }
            done.append(part)
            // Parts about stores take long, and parts about shards take little time.
            time += part.shard == nil ? 60_000 : 500
            meanwhile[part]?()
            return PartReport(StepCounts(lookedAt: 2, found: part.step == .orders ? 1 : 0))
        }
    }
    private let service: TestService
    private let sender: Sender
    private let wish: ReconcileWish

    init() throws {
        service = try TestService()
        sender = Sender(actor: try Actor("test"), idempotencyKey: nil)
        wish = ReconcileWish(project: try ProjectID("default"))
    }

    private func port(_ work: Work) -> ReconcilePort {
        var port = service.reconcilePort(wish)
        (port.notes, port.steps, port.rights) = (work, work, work)
        port.monotonicClock = { work.time }
        return port
    }

    private func recorded() throws -> [Reconciliation] {
        try service.useCases.reconciliations.all(of: wish.project)
    }

    @Test("A run that was cut short is resumed where it stood, under its own name")
    func takenUp() throws {
        let work = Work()
        #expect(throws: CommandError.self) {
            _ = try service.intake.reconcile(
                wish, port(work), by: sender, while: { work.done.count < 70 })
        }
        let cut = try #require(try recorded().first)
        #expect(cut.finished == nil)
        let finished = try service.intake.reconcile(wish, port(work), by: sender)
        #expect(work.done == ReconcilePart.all(of: wish.plan).filter { !$0.asksStores })
        #expect(finished.reconciliation == cut.id)
        #expect(finished.steps[.boundaries]?.lookedAt == 128)
        #expect(finished.steps[.orders]?.found == 64)
        #expect(finished.isSound)
        #expect(try recorded().map(\.finished) == [finished])
    }

    @Test(
        "A failed part is named with its shard, and does not prevent the others",
        arguments: [(1, " (shard 0)"), (3, " (shards 0, 1, 2)"), (64, " (64 shards)")])
    func broken(_ count: Int, _ place: String) throws {
        let work = Work()
        let parts = ReconcilePart.all(of: wish.plan).filter { !$0.asksStores }
        work.broken = Array(parts.filter { $0.step == .orders }.prefix(count))
        let finished = try service.intake.reconcile(wish, port(work), by: sender)
        #expect(finished.errors == ["orders\(place): the table is gone"])
        #expect(!finished.isSound)
        #expect(work.done.count == parts.count - count)
    }

    @Test("Shards are published side by side as requested, and everything else in turn")
    func sideBySide() throws {
        let work = Work()
        var wish = wish
        wish.parallel = 3
        work.broken = [ReconcilePart(step: .boundaries, shard: Shard(number: 4))]
        let first = try service.intake.reconcile(wish, port(work), by: sender)
        #expect(work.width.filter { $0.value > 1 } == [.boundaries: 3])
        let all = ReconcilePart.all(of: wish.plan).filter { !$0.asksStores }
        #expect(work.done == all.filter { !work.broken.contains($0) })
        #expect(first.errors == ["boundaries (shard 4): the table is gone"])
        #expect(first.steps[.boundaries]?.lookedAt == 126)
    }

    @Test("A run that was cut short side by side is resumed with the missing shards")
    func takenUpSideBySide() throws {
        let work = Work()
        var wish = wish
        wish.parallel = 3
        #expect(throws: CommandError.self) {
            _ = try service.intake.reconcile(
                wish, port(work), by: sender, while: { work.done.count < 10 })
        }
        #expect(work.done.count == 12)
        let finished = try service.intake.reconcile(self.wish, port(work), by: sender)
        #expect(work.done == ReconcilePart.all(of: wish.plan).filter { !$0.asksStores })
        #expect(finished.steps[.boundaries]?.lookedAt == 128)
    }

    @Test("Progress shows the step's rate and remaining time, whatever came before it")
    func progress() throws {
        let work = Work()
        #expect(throws: CommandError.self) {
            _ = try service.intake.reconcile(
                wish, port(work), by: sender, while: { work.done.count < 64 + 1 + 16 })
        }
        // The run resumes half an hour later. A quarter of the shards of `orders` is already done.
        work.time += 1_800_000
        var told: [ReconcileProgress] = []
        _ = try service.intake.reconcile(
            wish, port(work), by: sender, progress: { told.append($0) })
        let orders = told.filter { $0.step == .orders }
        #expect(orders.map(\.partsDone) == Array(17...64))
        #expect(orders.allSatisfy { $0.parts == 64 && $0.rate == 4 })
        #expect(orders.first?.millisecondsLeft == 23_500)
        #expect(orders.last?.millisecondsLeft == 0)
        let sample = try #require(told.first { $0.step == .projections })
        #expect(sample.millisecondsLeft == nil)
    }

    /// The store allows 50 questions per second in production and 5 in the sandbox, and Deed leaves
    /// some of them to others. In production, the duration of the calls limits the pace.
    @Test(
        "The time for histories is estimated from the store's limits and a call's duration",
        arguments: [(Environment.production, Int64(150)), (.sandbox, Int64(222))])
    func pace(_ environment: Environment, milliseconds: Int64) {
        var count = HistoryCount()
        count.ofEnvironment = [environment: 3600]
        let expected = count.milliseconds(at: service.intake.stores[.apple]?.profile)
        #expect(expected == 3600 * milliseconds)
        let allowed: Int64 = environment == .production ? 50 : 5
        #expect(expected > 3600 * 1000 / allowed)
    }

    @Test("A run that lost its right ends, and the next one resumes it")
    func lostHold() throws {
        let work = Work()
        let lost = ReconcilePart(step: .orders, shard: Shard(number: 5))
        work.meanwhile[lost] = { work.isHeld = false }
        #expect(throws: CommandError.self) {
            _ = try service.intake.reconcile(wish, port(work), by: sender)
        }
        #expect(work.done.last == lost)
        #expect(try recorded().map { $0.finished == nil } == [true])
        (work.isHeld, work.meanwhile) = (true, [:])
        let finished = try service.intake.reconcile(wish, port(work), by: sender)
        #expect(try recorded().map(\.finished) == [finished])
    }

    @Test("A run ends when a commit shows that another one has its right")
    func overtaken() throws {
        let work = Work()
        let last = ReconcilePart(step: .orders, shard: Shard(number: 5))
        work.meanwhile[last] = { work.isOvertaken = true }
        #expect(throws: CommandError.fault(.leaseLost)) {
            _ = try service.intake.reconcile(wish, port(work), by: sender)
        }
        #expect(work.done.last == last)
        #expect(try recorded().map { $0.finished == nil } == [true])
    }

    @Test("A run that another one resumed and ended is not ended twice")
    func endedElsewhere() throws {
        let (work, other) = (Work(), Work())
        let (service, wish, sender) = (service, wish, sender)
        var first: ReconciliationFinished?
        work.meanwhile[ReconcilePart(step: .chain, shard: Shard(number: 63))] = {
            first = try? service.intake.reconcile(wish, port(other), by: sender)
        }
        let late = try service.intake.reconcile(wish, port(work), by: sender)
        #expect(first?.reconciliation == late.reconciliation)
        #expect(try recorded().map(\.finished) == [first])
        #expect(
            try service.database.number(
                "select count(*) from deed.events where type = 'reconciliation.finished'") == 1)
        // Another run made the remaining notes.
        #expect(!work.noted.isEmpty)
    }

    @Test(
        "A run as of an instant is not resumed by one of another instant", arguments: [true, false])
    func instants(isFirstNow: Bool) throws {
        let work = Work()
        var past = wish
        past.plan.asOf = service.clock.now.advanced(byMilliseconds: -60_000)
        let (first, second) = isFirstNow ? (wish, past) : (past, wish)
        #expect(throws: CommandError.self) {
            _ = try service.intake.reconcile(
                first, port(work), by: sender, while: { work.done.count < 63 })
        }
        work.noted = [:]
        let finished = try service.intake.reconcile(second, port(work), by: sender)
        #expect(finished.steps[.boundaries]?.lookedAt == 128)
        #expect(try recorded().map { $0.finished == nil } == [false, true])
        #expect(try recorded().map(\.started.plan) == [second.plan, first.plan])
    }

    @Test(
        "A requested run is resumed under its name; parts from hours ago are checked again",
        arguments: [(5, 64), (7, 128)])
    func requestedLongAgo(hours: Int64, published: Int) throws {
        let work = Work()
        var wish = wish
        wish.plan.steps = [.boundaries]
        let asked = try service.ledger.perform(
            service.useCases.reconciliations.requesting(wish.plan, of: wish.project, by: sender))
        wish.requested = asked.id
        #expect(throws: CommandError.self) {
            _ = try service.intake.reconcile(
                wish, port(work), by: sender, while: { work.done.count < 63 })
        }
        service.clock.advance(byMilliseconds: hours * 3_600_000)
        let finished = try service.intake.reconcile(wish, port(work), by: sender)
        #expect(finished.reconciliation == asked.id)
        #expect(finished.steps[.boundaries]?.lookedAt == 128)
        #expect(work.done.count == published - (hours > 6 ? 1 : 0))
    }

    @Test("A rehearsal records nothing")
    func rehearsal() throws {
        let work = Work()
        var rehearsal = wish
        rehearsal.isRehearsal = true
        _ = try service.intake.reconcile(rehearsal, port(work), by: sender)
        #expect(try recorded().isEmpty)
        #expect(work.noted.isEmpty)
    }
}

extension ReconcilePart {
    fileprivate var asksStores: Bool {
        [.notifications, .history, .subscriptions].contains(step)
    }
}
