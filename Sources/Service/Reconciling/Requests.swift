package import Core

/// The reconciliations that a project remembers, and the request for another one.
package struct Reconciliations: Sendable {
    let ledger: any EventLog
    let directory: any Directory
    let secrets: Secrets
    let now: @Sendable () -> Instant

    init(_ ports: Ports) {
        (ledger, directory) = (ports.ledger, ports.directory)
        (secrets, now) = (ports.secrets, ports.now)
    }
}

extension Reconciliations {
    /// A request that a service reconcile the project as soon as one is free. Refused while a run of the
    /// project is under way or waits.
    package func requesting(
        _ plan: ReconcilePlan, of project: ProjectID, by sender: Sender
    ) -> Wish<Reconciliation> {
        .look { () throws(CommandError) in
            // Read first: a repetition gets the same answer, even while another run is under way.
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
        return Wish(command) { outcome throws(CommandError) in
            let id = outcome.events.lazy.compactMap(\.event.startedReconciliation).first
            let found = outcome.project.reconciliations.last { $0.id == id }
            guard let found else { throw .fault(.broken("a reconciliation left no trace")) }
            return found
        }
    }
}

extension Event {
    fileprivate var startedReconciliation: ReconciliationID? {
        if case .reconciliationStarted(let started) = self { started.reconciliation } else { nil }
    }
}
