/// A part of a reconciliation: one thing that is compared with the clock, the log or the rows.
package enum ReconcileStep: String, Hashable, Sendable, CaseIterable {
    /// Boundaries that are due and were not published.
    case boundaries
    /// What the store told each app's server, and did not arrive.
    case notifications
    /// What stores have of each customer's purchases, where that is not known to be read.
    case history
    /// Subscriptions about which the store should have said something by now.
    case subscriptions
    /// Evidence that waits to be judged.
    case intake
    /// Orders whose time is over.
    case orders
    /// Purchases that no customer claimed.
    case unclaimed
    /// Rows of customers against the fold of their events.
    case projections
    /// The chain of the log, since it was proven last.
    case chain

    /// Whether what it finds should never be there: then a run ends as drifted.
    package var findsDrift: Bool {
        switch self {
        case .projections, .chain: true
        case .boundaries, .notifications, .history, .subscriptions, .intake, .orders, .unclaimed:
            false
        }
    }
}

/// What a step came to.
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

/// What doing a part came to.
package struct PartReport: Hashable, Sendable {
    package var counts = StepCounts()
    /// A sentence for each thing that could not be done.
    package var errors: [String] = []
    /// What an operator should know although nothing is wrong.
    package var notes: [String] = []

    package init(_ counts: StepCounts = StepCounts(), _ fault: Fault? = nil) {
        self.counts = counts
        errors = fault.map { [$0.sentence] } ?? []
    }
}

/// What is kept of a part between runs.
package typealias NotedPart = (counts: StepCounts, isDone: Bool)

/// How rows differ from the log, and what puts them right from it; that gives how many it put right, and what kept
/// others from it.
package typealias RowDrift = (
    counts: StepCounts, mend: (UpkeepPace) throws(Fault) -> (mended: Int64, fault: Fault?)
)

/// What of a project is compared, and how.
package struct ReconcilePlan: Hashable, Sendable {
    package var steps: [ReconcileStep]
    /// Compares the rows of every customer, and not of some, and asks for each one's history.
    package var isFull = false
    /// Rewrites rows that differ, from the log.
    package var repairs = false
    /// The instant as of which it looks; `nil` for the present.
    package var asOf: Instant?

    package init(steps: [ReconcileStep] = ReconcileStep.allCases) {
        self.steps = steps
    }

    /// What was asked for and means nothing to the steps: `full` or `repair`.
    package var idle: String? {
        if isFull, !steps.contains(.history), !steps.contains(.projections) { return "full" }
        return repairs && !steps.contains(.projections) ? "repair" : nil
    }

    /// Whether nothing is left out that a night looks at. There were nights before there were histories.
    package var isWhole: Bool {
        asOf == nil && Set(steps).union([.history]).count == ReconcileStep.allCases.count
    }

    /// Whether the history of every customer is asked for: in a run of all rows, and where it is named.
    package var asksEveryHistory: Bool {
        steps.contains(.history) && (isFull || Set(steps).count < ReconcileStep.allCases.count)
    }
}

/// A project's reconciliation began.
package struct ReconciliationStarted: Hashable, Sendable {
    package let reconciliation: ReconciliationID
    package let plan: ReconcilePlan
    /// Whether a service is to do it, whichever finds the time first.
    package let isRequested: Bool

    package init(reconciliation: ReconciliationID, plan: ReconcilePlan, isRequested: Bool = false) {
        self.reconciliation = reconciliation
        self.plan = plan
        self.isRequested = isRequested
    }
}

/// A project's reconciliation came to its end.
package struct ReconciliationFinished: Hashable, Sendable {
    package let reconciliation: ReconciliationID
    package let steps: [ReconcileStep: StepCounts]
    /// A sentence for each step, or app, that could not be done.
    package let errors: [String]
    /// What an operator should know although nothing is wrong.
    package let notes: [String]
    package let milliseconds: Int64

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

    /// How much was found that should never be there.
    package var drift: Int64 {
        steps.reduce(0) { $0 + ($1.key.findsDrift ? $1.value.found : 0) }
    }

    /// Whether nothing drifted and every step was done.
    package var isSound: Bool { drift == 0 && errors.isEmpty }
}

/// A reconciliation as the project's stream records it.
package struct Reconciliation: Hashable, Sendable {
    /// How many are remembered; the log has them all.
    package static let limit = 100

    package let started: ReconciliationStarted
    package let startedAt: Instant
    package internal(set) var finished: ReconciliationFinished?
    package internal(set) var finishedAt: Instant?

    package var id: ReconciliationID { started.reconciliation }
}
