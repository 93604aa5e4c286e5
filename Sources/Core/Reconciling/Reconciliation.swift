/// A step of a reconciliation. Each step compares one part of the data with the clock, the log or
/// the rows.
package enum ReconcileStep: String, Hashable, Sendable, CaseIterable {
    /// Due boundaries that have not been published.
    case boundaries
    /// Notifications that the store sent to an app's server but that never arrived.
    case notifications
    /// The store's history of each customer's purchases, unless it has already been read completely.
    case history
    /// Subscriptions with overdue news from the store.
    case subscriptions
    /// Evidence that is waiting to be judged.
    case intake
    /// Expired orders.
    case orders
    /// Purchases that have not been claimed by any customer.
    case unclaimed
    /// Customers' rows, which are compared with the state folded from their events.
    case projections
    /// The chain of the log since it was last verified.
    case chain

    /// Whether the step's findings should never occur. A run with such findings ends as drifted.
    package var findsDrift: Bool {
        switch self {
        case .projections, .chain: true
        case .boundaries, .notifications, .history, .subscriptions, .intake, .orders, .unclaimed:
            false
        }
    }
}

package struct StepCounts: Hashable, Sendable {
    package var lookedAt: Int64
    package var found: Int64
    package var mended: Int64

    package init(lookedAt: Int64 = 0, found: Int64 = 0, mended: Int64 = 0) {
        self.lookedAt = lookedAt
        self.found = found
        self.mended = mended
    }

    package static func += (sum: inout StepCounts, other: StepCounts) {
        sum.lookedAt += other.lookedAt
        sum.found += other.found
        sum.mended += other.mended
    }
}

/// The result of one part of a reconciliation.
package struct PartReport: Hashable, Sendable {
    package var counts = StepCounts()
    /// One sentence for each failure.
    package var errors: [String] = []
    /// Notes for the operator that do not report a problem.
    package var notes: [String] = []

    package init(_ counts: StepCounts = StepCounts()) { self.counts = counts }
}

/// The record of a part that is stored between runs.
package typealias NotedPart = (counts: StepCounts, isDone: Bool)

/// The differences between rows and the log, and a function that repairs them. The function returns
/// the number of repairs, and what prevented the others.
package typealias RowDrift = (
    counts: StepCounts, mend: (UpkeepPace) throws(Fault) -> (mended: Int64, fault: Fault?)
)

/// What to compare in a project, and how to compare it.
package struct ReconcilePlan: Hashable, Sendable {
    package var steps: [ReconcileStep]
    /// Compares every customer's rows instead of a sample, and requests each customer's history.
    package var isFull = false
    /// Rewrites rows that differ from the log.
    package var repairs = false
    /// The instant to compare with; `nil` for the current time.
    package var asOf: Instant?

    package init(steps: [ReconcileStep] = ReconcileStep.allCases) {
        self.steps = steps
    }

    /// An option that has no effect on the chosen steps: `full` or `repair`.
    package var idle: String? {
        if isFull, !steps.contains(.history), !steps.contains(.projections) { return "full" }
        return repairs && !steps.contains(.projections) ? "repair" : nil
    }

    /// Whether the plan includes everything that a nightly run checks. The history step may be
    /// missing, because the first nightly runs did not have it.
    package var isWhole: Bool {
        asOf == nil && Set(steps).union([.history]).count == ReconcileStep.allCases.count
    }

    /// Whether to request every customer's history: the plan compares all rows or names the history step.
    package var asksEveryHistory: Bool {
        steps.contains(.history) && (isFull || Set(steps).count < ReconcileStep.allCases.count)
    }
}

package struct ReconciliationStarted: EventContent {
    package let reconciliation: ReconciliationID
    package let plan: ReconcilePlan
    /// Whether the run was requested from a service. The first free instance takes it.
    package let isRequested: Bool
    package var subject: EventSubject { .project }

    package init(reconciliation: ReconciliationID, plan: ReconcilePlan, isRequested: Bool = false) {
        self.reconciliation = reconciliation
        self.plan = plan
        self.isRequested = isRequested
    }
}

package struct ReconciliationFinished: EventContent {
    package let reconciliation: ReconciliationID
    package let steps: [ReconcileStep: StepCounts]
    /// One sentence for each step or app that failed.
    package let errors: [String]
    /// Notes for the operator that do not report a problem.
    package let notes: [String]
    package let milliseconds: Int64
    package var subject: EventSubject { .project }

    package init(
        reconciliation: ReconciliationID, steps: [ReconcileStep: StepCounts], errors: [String],
        notes: [String] = [], milliseconds: Int64
    ) {
        self.reconciliation = reconciliation
        self.steps = steps
        self.errors = errors
        self.notes = notes
        self.milliseconds = milliseconds
    }

    /// The number of findings that should never occur.
    package var drift: Int64 {
        steps.reduce(0) { $0 + ($1.key.findsDrift ? $1.value.found : 0) }
    }

    /// Why the run is not sound, with one sentence for each step.
    package var reasons: [String] {
        ReconcileStep.allCases.compactMap { step in
            guard step.findsDrift, let counts = steps[step], counts.found > 0 else { return nil }
            return "The step \(step.rawValue) found \(counts.found) and repaired \(counts.mended)."
        } + errors
    }

    /// Whether the run found no drift and completed every step.
    package var isSound: Bool { drift == 0 && errors.isEmpty }
}

/// A reconciliation according to the project's stream.
package struct Reconciliation: Hashable, Sendable {
    /// How many reconciliations are remembered. The log contains all of them.
    package static let limit = 100

    package let started: ReconciliationStarted
    package let startedAt: Instant
    /// When the run began, by the clock of its instance. `startedAt` never decreases in a shard, so after a clock was
    /// ahead, it does not tell when a run began.
    package let begunAt: Instant
    package internal(set) var finished: ReconciliationFinished?
    package internal(set) var finishedAt: Instant?

    package var id: ReconciliationID { started.reconciliation }
}
