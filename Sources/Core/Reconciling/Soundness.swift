/// The combined verdict of a project's reconciliations. A run that checks less does not clear
/// another run's findings.
struct Soundness: Hashable, Sendable {
    /// When the newest run with all steps ended.
    private(set) var reconciledAt: Instant?
    private var wasReconciled = false
    /// Steps that were unsound when they were last done.
    private var doubted: Set<ReconcileStep> = []
    /// Whether differing rows were found and not repaired.
    private var leavesRows = false

    /// Whether the last run of each step was sound; `nil` before the first run.
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
            // An error may belong to any step.
            if found > 0 || !finished.errors.isEmpty {
                doubted.insert(step)
            } else if step != .projections || !leavesRows {
                // A sample may have missed the row instead of repairing it.
                doubted.remove(step)
            }
        }
    }
}
