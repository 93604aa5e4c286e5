import API
import Core
import JSON
import Service

extension ReconciliationFinished {
    func json(of wish: ReconcileWish) -> JSON {
        var object = JSONObject()
        object.append(
            "reconciliation", wish.isRehearsal ? .null : .string(reconciliation.text))
        object.append("project", .string(wish.project.text))
        object.append("dry_run", .bool(wish.isRehearsal))
        for member in members { object.append(member.name, member.value) }
        return .object(object)
    }

    /// Returns a run in words that an operator can pass on.
    func text(of wish: ReconcileWish) -> String {
        let head =
            wish.isRehearsal
            ? "A dry run for \(wish.project): nothing was changed or recorded."
            : "Reconciliation \(reconciliation) of \(wish.project)."
        return ([head] + lines + [verdict]).joined(separator: "\n")
    }

    fileprivate var lines: [String] {
        ReconcileStep.allCases.compactMap { step in
            steps[step].map { "  \(step.sentence($0))" }
        } + errors.map { "  Not done: \($0)" } + notes.map { "  Note: \($0)" }
    }

    fileprivate var verdict: String {
        let state =
            isSound
            ? "Everything is in order."
            : drift > 0 ? "Drift: \(drift)." : "The reconciliation is incomplete."
        return "\(state) It took \(seconds) s."
    }

    /// Returns the advice after a run that has found problems.
    func advice(of wish: ReconcileWish) -> String {
        if !errors.isEmpty { return "A step failed; remove the cause and reconcile again." }
        if (steps[.chain]?.found ?? 0) > 0 {
            return "The log was changed or is damaged; to see where, run: deed audit"
        }
        let left = steps[.projections].map { $0.found - $0.mended } ?? 0
        if left == 0 {
            return "Rows differed from the log and were repaired; find out what wrote them."
        }
        return wish.plan.isFull && wish.plan.repairs
            ? "Some differences remain that no readable event explains; to see them, run: deed audit --projections"
            : "Rows differ from the log; repair them with: deed reconcile --full --repair"
    }
}

extension Reconciliation {
    var line: String {
        let state = finished.map { $0.isSound ? "sound" : $0.verdict } ?? "not finished"
        return "\(id)   \(startedAt.text)   \(state)"
    }

    var text: String { ([line] + (finished?.lines ?? [])).joined(separator: "\n") }
}

extension ReconcileStep {
    /// Returns the result of a step as a sentence.
    fileprivate func sentence(_ counts: StepCounts) -> String {
        switch self {
        case .boundaries:
            "boundaries: \(counts.found) were due among \(counts.lookedAt) customers; "
                + "\(counts.mended) were published."
        case .notifications:
            "notifications: \(counts.lookedAt) were read from the stores; \(counts.found) had not "
                + "arrived; \(counts.mended) were recorded."
        case .history:
            "history: the stores were asked for the purchases of \(counts.lookedAt) customers; of "
                + "\(counts.found) they reported something new; \(counts.mended) were repaired."
        case .subscriptions:
            "subscriptions: the stores were asked about \(counts.lookedAt); of \(counts.found) they "
                + "reported something new; \(counts.mended) were repaired."
        case .intake:
            "intake: \(counts.lookedAt) pieces of evidence are waiting"
                + (counts.found == 0
                    ? "." : "; ALARM: \(counts.found) were tried often, see: deed intake list")
        case .orders:
            "orders: \(counts.found) were stale; \(counts.mended) were closed."
        case .unclaimed:
            "unclaimed: \(counts.lookedAt) purchases are waiting for a customer; "
                + "\(counts.found) carry a customer's token."
        case .projections:
            "projections: the rows of \(counts.found) of \(counts.lookedAt) customers differed "
                + "from the log; \(counts.mended) were repaired."
        case .chain:
            "chain: \(counts.lookedAt) new events were verified; "
                + "\(counts.found) places were changed."
        }
    }
}
