import Core
import JSON
package import Ledger
package import Service
package import Telemetry
import Threading

extension Job {
    /// Reconciles every project once a day, one after the other.
    package static func reconciling(
        at time: TimeOfDay, _ ports: Ports, log: Log,
        _ port: @escaping @Sendable (ReconcileWish) -> ReconcilePort
    ) -> Job {
        Job("reconciling", .daily(time), urgency: .patient) { run throws(Fault) in
            for listed in try ports.directory.projects() where run.goesOn {
                let wish = ReconcileWish(project: listed.project)
                do throws(CommandError) {
                    let finished = try ports.reconcile(
                        wish, port(wish), by: .job, while: { run.goesOn })
                    log.tell(finished, of: listed.project)
                } catch {
                    switch error {
                    case .fault(let fault): throw fault
                    case .refused(let refusal):
                        log.warning(
                            "not_reconciled",
                            [
                                "project": .string(listed.project.text),
                                "reason": .string(refusal.sentence),
                            ])
                    }
                }
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
