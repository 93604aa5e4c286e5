package import Core

/// Lists a project's reconciliations, and accepts requests for new ones.
package struct Reconciliations: Sendable {
    let ledger: any EventLog
    let directory: any Directory
    let secrets: Secrets
    let now: @Sendable () -> Instant

    init(
        _ ledger: any EventLog, _ directory: any Directory, _ secrets: Secrets,
        now: @escaping @Sendable () -> Instant
    ) {
        (self.ledger, self.directory) = (ledger, directory)
        (self.secrets, self.now) = (secrets, now)
    }
}

extension Reconciliations {
    /// Returns a request to reconcile the project as soon as a service is free. The request is refused while another
    /// run of the project waits or is in progress.
    package func requesting(
        _ plan: ReconcilePlan, of project: ProjectID, by sender: Sender
    ) -> Wish<Reconciliation> {
        .look { () throws(CommandError) in
            // Only looked up here: the command decides, so that a repetition gets the same answer
            // even while another run is in progress.
            let isRunning = try obtain(directory.isReconciling())
            return request(plan, of: project, by: sender, isRunning: isRunning)
        }
    }

    private func request(
        _ plan: ReconcilePlan, of project: ProjectID, by sender: Sender, isRunning: Bool
    ) -> Wish<Reconciliation> {
        let started = ReconciliationStarted(
            reconciliation: secrets.newID(prefix: "rc_"), plan: plan, isRequested: true)
        let words = plan.steps.map(\.rawValue) + ["\(plan.isFull)", "\(plan.repairs)"]
        let command = Command.project(
            project, actor: sender.actor, cause: secrets.cause(of: sender, "reconcile", words)
        ) { state, _ throws(Refusal) in
            if !state.exists { throw .projectUnknown(project) }
            if isRunning || state.requestedReconciliation != nil { throw .reconciliationRunning }
            return [.reconciliationStarted(started)]
        }
        let missing = "a reconciliation was not recorded"
        return Wish(command, telling: \.startedReconciliation, missing: missing) {
            recorded throws(CommandError) in
            let all = recorded.outcome.project.reconciliations
            guard let found = all.last(where: { $0.id == recorded.told }) else {
                throw .fault(.broken(missing))
            }
            return found
        }
    }
}

extension Event {
    fileprivate var startedReconciliation: ReconciliationID? {
        if case .reconciliationStarted(let started) = self { started.reconciliation } else { nil }
    }
}
