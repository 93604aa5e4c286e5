import Core
import Service
import TestSupport
import Testing

/// The course of a reconciliation, over work that the test sees.
@Suite("Reconciliations")
struct ReconcilingTests {
    /// What was done, and what was noted of it.
    private final class Work {
        var done: [ReconcilePart] = []
        var noted: [ReconcilePart: StepCounts] = [:]
        var broken: ReconcileStep?

        var port: ReconcilePort {
            ReconcilePort(
                begin: { true }, done: { _ in self.noted },
                note: { part, counts, _ in self.noted[part] = counts },
                forget: { self.noted = [:] },
                reconcile: { part throws(Fault) in
                    if part.step == self.broken { throw .broken("the table is gone") }
                    self.done.append(part)
                    return StepCounts(lookedAt: 2, found: part.step == .orders ? 1 : 0)
                },
                inquiries: .none, monotonicClock: { 0 })
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

    private func recorded() throws -> [Reconciliation] {
        try service.ports.reconciliations(of: wish.project)
    }

    @Test("A run that was cut short is taken up where it stood, under its own name")
    func takenUp() throws {
        let work = Work()
        #expect(throws: CommandError.self) {
            _ = try service.intake.reconcile(
                wish, work.port, by: sender, while: { work.done.count < 70 })
        }
        let cut = try #require(try recorded().first)
        #expect(cut.finished == nil)
        let finished = try service.intake.reconcile(wish, work.port, by: sender)
        #expect(work.done == ReconcilePart.all(of: wish.plan).filter { !$0.asksStores })
        #expect(finished.reconciliation == cut.id)
        #expect(finished.steps[.boundaries]?.lookedAt == 128)
        #expect(finished.steps[.orders]?.found == 64)
        #expect(finished.isSound)
        #expect(try recorded().map(\.finished) == [finished])
    }

    @Test("A step that cannot be done is named, and keeps no other from being done")
    func broken() throws {
        let work = Work()
        work.broken = .orders
        let finished = try service.intake.reconcile(wish, work.port, by: sender)
        #expect(finished.errors == ["orders: the table is gone"])
        #expect(!finished.isSound)
        #expect(work.done.contains { $0.step == .chain })
    }

    @Test("A rehearsal records nothing")
    func rehearsal() throws {
        let work = Work()
        var rehearsal = wish
        rehearsal.isRehearsal = true
        _ = try service.intake.reconcile(rehearsal, work.port, by: sender)
        #expect(try recorded().isEmpty)
        #expect(work.noted.isEmpty)
    }
}

extension InquiryPort {
    /// For projects without apps: there is nothing to ask about.
    fileprivate static let none = InquiryPort(
        due: { _, _, _, _, _ in [] }, appendAll: { _ in [] },
        rehearse: { _ in Rehearsal(items: [], customers: []) }, pause: { _ in },
        marks: StoreMarksPort(
            history: { _ in nil }, keepHistory: { _, _ in }, notifications: { _, _ in nil },
            keepNotifications: { _, _, _ in }))
}

extension ReconcilePart {
    fileprivate var asksStores: Bool { step == .notifications || step == .subscriptions }
}
