/// A step of a reconciliation, or a step's share for one shard. A part is recorded once it is complete.
package struct ReconcilePart: Hashable, Sendable {
    package let step: ReconcileStep
    /// `nil` if the step covers all shards together.
    package let shard: Shard?

    package init(step: ReconcileStep, shard: Shard?) {
        self.step = step
        self.shard = shard
    }

    /// Returns the parts of the steps, in order of execution.
    package static func all(of plan: ReconcilePlan) -> [ReconcilePart] {
        plan.steps.flatMap { step in
            switch step {
            case .boundaries, .orders, .chain:
                Shard.all.map { ReconcilePart(step: step, shard: $0) }
            case .projections where plan.isFull:
                // The shared name tables come last. By then, misplaced rows have been corrected.
                Shard.all.map { ReconcilePart(step: step, shard: $0) }
                    + [ReconcilePart(step: step, shard: nil)]
            case .notifications, .history, .subscriptions, .projections, .intake, .unclaimed:
                [ReconcilePart(step: step, shard: nil)]
            }
        }
    }
}
