/// What the reconciliations of a project have shown, all of them together: a run that looks at less does not
/// take back what another one found.
struct Soundness: Hashable, Sendable {
    /// When the newest run with every step ended.
    private(set) var reconciledAt: Instant?
    private var wasReconciled = false
    /// Steps that were not sound when they were done last, as far as that is known.
    private var doubted: Set<ReconcileStep> = []
    /// Whether rows were found to differ that were not mended.
    private var leavesRows = false

    /// Whether each step was sound when it was done last; `nil` before the first run.
    var isSound: Bool? { wasReconciled ? doubted.isEmpty : nil }

    mutating func apply(
        _ finished: ReconciliationFinished, of plan: ReconcilePlan, endedAt instant: Instant
    ) {
        wasReconciled = true
        if plan.isWhole { reconciledAt = instant }
        let rows = finished.steps[.projections] ?? StepCounts()
        if plan.steps.contains(.projections), plan.isFull, finished.errors.isEmpty {
            leavesRows = false
        }
        if rows.found > rows.mended { leavesRows = true }
        for step in plan.steps {
            let found = step.findsDrift ? finished.steps[step]?.found ?? 0 : 0
            // An error may be any step's.
            if found > 0 || !finished.errors.isEmpty {
                doubted.insert(step)
            } else if step != .projections || !leavesRows {
                // A sample that misses a row has not mended it.
                doubted.remove(step)
            }
        }
    }
}
