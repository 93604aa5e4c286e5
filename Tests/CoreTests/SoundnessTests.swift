import Core
import Histories
import Testing

/// Tests how a project's state judges its reconciliations.
@Suite("Whether a project is sound")
struct SoundnessTests {
    private struct Runs {
        var state = ProjectState()
        private var count = 0

        mutating func add(
            _ steps: [ReconcileStep] = ReconcileStep.allCases, full: Bool = false,
            found: Int64 = 0, mended: Int64 = 0, in step: ReconcileStep = .projections,
            errors: [String] = []
        ) {
            count += 1
            var plan = ReconcilePlan(steps: steps)
            plan.isFull = full
            let run: ReconciliationID = id("rc_\(count)")
            state.apply(
                .reconciliationStarted(ReconciliationStarted(reconciliation: run, plan: plan)),
                recordedAt: at(Int64(count)))
            var counts = Dictionary(uniqueKeysWithValues: steps.map { ($0, StepCounts()) })
            counts[step] = StepCounts(found: found, mended: mended)
            state.apply(
                .reconciliationFinished(
                    ReconciliationFinished(
                        reconciliation: run, steps: counts, errors: errors, milliseconds: 0)),
                recordedAt: at(Int64(count)))
        }
    }

    @Test("A run that checks less clears nothing, and is no nightly run")
    func narrower() {
        var runs = Runs()
        #expect(runs.state.isSound == nil && runs.state.reconciledAt == nil)
        runs.add()
        #expect(runs.state.isSound == true && runs.state.reconciledAt == at(1))
        runs.add(found: 1, in: .chain)
        #expect(runs.state.isSound == false && runs.state.reconciledAt == at(2))
        runs.add([.unclaimed], in: .unclaimed)
        #expect(runs.state.isSound == false && runs.state.reconciledAt == at(2))
        runs.add([.chain], in: .chain)
        #expect(runs.state.isSound == true && runs.state.reconciledAt == at(2))
    }

    @Test("The verdict is remembered even after a hundred narrower runs")
    func flushed() {
        var runs = Runs()
        runs.add(found: 1, in: .chain)
        for _ in 0...Reconciliation.limit { runs.add([.unclaimed], in: .unclaimed) }
        #expect(runs.state.isSound == false && runs.state.reconciledAt == at(1))
    }

    @Test("A sample that misses an unrepaired row does not make it sound; a full run does")
    func samples() {
        var runs = Runs()
        runs.add(found: 2, mended: 1)
        runs.add()
        #expect(runs.state.isSound == false)
        runs.add(found: 1, mended: 1)
        runs.add()
        #expect(runs.state.isSound == false)
        runs.add([.projections], full: true)
        #expect(runs.state.isSound == true)
    }

    @Test("Repaired findings count as drift until the next sound run")
    func mended() {
        var runs = Runs()
        runs.add(found: 1, mended: 1)
        #expect(runs.state.isSound == false)
        runs.add()
        #expect(runs.state.isSound == true)
    }

    @Test("A failed step is done by the next run without an error")
    func errors() {
        var runs = Runs()
        runs.add(errors: ["subscriptions: the store refuses it"])
        runs.add([.chain], in: .chain)
        #expect(runs.state.isSound == false)
        runs.add()
        #expect(runs.state.isSound == true)
    }
}
