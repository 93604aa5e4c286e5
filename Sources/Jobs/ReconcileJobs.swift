import Core
import JSON
package import Ledger
package import Service
package import Telemetry
import Threading

extension Job {
    /// Reconciles every project once a day, one after the other.
    package static func reconciling(
        at time: TimeOfDay, _ intake: Intake, log: Log,
        _ port: @escaping @Sendable (ReconcileWish) -> ReconcilePort
    ) -> Job {
        Job("reconciling", .daily(time), urgency: .patient) { run throws(Fault) in
            for listed in try intake.ports.directory.projects() where run.goesOn {
                // One that was requested may be under way.
                while run.goesOn, try intake.ports.directory.isReconciling() {
                    Threading.pause(milliseconds: 500)
                }
                let wish = ReconcileWish(project: listed.project)
                if run.goesOn { try intake.reconcile(wish, port(wish), log) { run.goesOn } }
            }
            return .asScheduled
        }
    }

    /// Does the reconciliations that were requested. Every instance looks, and the one that takes the right to
    /// reconcile does it; the others come back.
    package static func requested(
        _ ledger: Ledger, _ intake: Intake, log: Log,
        _ port: @escaping @Sendable (ReconcileWish) -> ReconcilePort
    ) -> Job {
        Job("requested", .everywhere(milliseconds: 5000), urgency: .patient) { run throws(Fault) in
            for project in try ledger.requestedReconciliations() where run.goesOn {
                let state = try ledger.project(project)
                guard let requested = state.requestedReconciliation,
                    try !ledger.isReconciling()
                else { continue }
                var wish = ReconcileWish(project: project)
                wish.plan = requested.started.plan
                wish.requested = requested.id
                try intake.reconcile(wish, port(wish), log) { run.goesOn }
            }
            return .asScheduled
        }
    }

    /// Tells how the newest reconciliations ended, on any instance.
    package static func reconciled(_ ledger: Ledger, metrics: Metrics) -> Job {
        let (longestAgo, drifted) = (Gauge(), Gauge())
        metrics.gauge(
            "deed_reconciled_timestamp_seconds",
            "When the project was reconciled that waits longest for the next time; 0 for never."
        ) { longestAgo.value }
        metrics.gauge(
            "deed_projects_drifted",
            "Projects whose newest reconciliation found drift or could not do a step."
        ) { drifted.value }
        return Job("reconciled", .everywhere(milliseconds: 15_000), urgency: .patient) {
            _ throws(Fault) in
            let reconciled = try ledger.reconciled()
            longestAgo.set((reconciled.longestAgo?.milliseconds ?? 0) / 1000)
            drifted.set(reconciled.drifted)
            return .asScheduled
        }
    }
}

extension Intake {
    fileprivate func reconcile(
        _ wish: ReconcileWish, _ port: ReconcilePort, _ log: Log,
        while isWanted: @escaping () -> Bool
    ) throws(Fault) {
        do throws(CommandError) {
            log.tell(
                try reconcile(wish, port, by: .job, while: isWanted), of: wish.project)
        } catch {
            switch error {
            case .fault(let fault): throw fault
            case .refused(let refusal):
                log.warning(
                    "not_reconciled",
                    [
                        "project": .string(wish.project.text),
                        "reason": .string(refusal.sentence),
                    ])
            }
        }
    }
}

extension Sender {
    fileprivate static let job = Sender(
        actor: Actor(prefix: "deed:", random: "clock"), idempotencyKey: nil)
}

extension Log {
    fileprivate func tell(_ finished: ReconciliationFinished, of project: ProjectID) {
        let fields: JSON = [
            "project": .string(project.text),
            "reconciliation": .string(finished.reconciliation.text),
            "drift": .integer(finished.drift), "errors": .integer(finished.errors.count),
            "milliseconds": .integer(finished.milliseconds),
        ]
        if finished.isSound { info("reconciled", fields) } else { error("drifted", fields) }
    }
}
