/// The combined verdict of a project's reconciliations. A run with only some of the checks does not
/// clear another run's findings.
struct Soundness: Hashable, Sendable {
    /// When the newest run that included all steps ended.
    private(set) var reconciledAt: Instant?
    private var wasReconciled = false
    /// The steps that were not sound when they were last performed.
    private var doubted: Set<ReconcileStep> = []
    /// Whether rows differed from the log and have not been repaired.
    private var leavesRows = false

    /// Whether each step was sound in its last run; `nil` before the first run.
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
            // The error may have occurred in any of the steps.
            if found > 0 || !finished.errors.isEmpty {
                doubted.insert(step)
            } else if step != .projections || !leavesRows {
                // While unrepaired rows remain, the projections stay doubted, because a run over a
                // sample may have missed those rows.
                doubted.remove(step)
            }
        }
    }
}
