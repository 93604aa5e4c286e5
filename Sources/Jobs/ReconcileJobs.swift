import Core
import JSON
package import Ledger
package import Service
package import Telemetry
import Threading
import Wording

extension Job {
    private static let nightly = "reconciling"

    /// Reconciles all projects once a day, one after another. If a run is interrupted or a project
    /// fails, the next run skips the projects that are done.
    package static func reconciling(
        at time: TimeOfDay, _ intake: Intake, log: Log,
        _ port: @escaping @Sendable (ReconcileWish) -> ReconcilePort
    ) -> Job {
        Job(Job.nightly, .daily(time), urgency: .patient) { run throws(Fault) in
            let night = time.last(by: run.startedAt)..<time.next(after: run.startedAt)
            var fault: Fault?
            for listed in try intake.directory.projects() where run.goesOn {
                do throws(Fault) {
                    if try intake.wasReconciled(listed.project, in: night) { continue }
                    let wish = ReconcileWish(project: listed.project)
                    let work = port(wish)
                    // Waits while another run is in progress, such as a requested one.
                    while run.goesOn,
                        try !intake.reconcile(wish, work, log, while: { run.goesOn })
                    { Threading.pause(milliseconds: 500) }
                } catch {
                    if error.isOfWholeDatabase { throw error }
                    log.warning(
                        "not_reconciled",
                        [
                            "project": .string(listed.project.text),
                            "reason": .string(error.withRemedy),
                        ])
                    fault = fault ?? error
                }
            }
            if let fault { throw fault }
            return .asScheduled
        }
    }

    /// Performs requested reconciliations. Every instance checks for them. The instance that acquires the right to
    /// reconcile performs them, and the others try again later.
    package static func requested(
        _ ledger: Ledger, _ intake: Intake, log: Log,
        _ port: @escaping @Sendable (ReconcileWish, UnlistedWalk) -> ReconcilePort
    ) -> Job {
        Job("requested", .everywhere(milliseconds: 5000), urgency: .patient) { run throws(Fault) in
            var fault: Fault?
            let walk = UnlistedWalk()
            for project in try ledger.requestedReconciliations() where run.goesOn {
                do throws(Fault) {
                    guard let requested = try ledger.project(project).requestedReconciliation
                    else { continue }
                    var wish = ReconcileWish(project: project)
                    wish.plan = requested.started.plan
                    wish.requested = requested.id
                    _ = try intake.reconcile(wish, port(wish, walk), log, while: { run.goesOn })
                } catch {
                    fault = fault ?? error
                }
            }
            if let fault { throw fault }
            return .asScheduled
        }
    }

    /// Reports the results of the latest reconciliations, whichever instance performed them.
    package static func reconciled(_ ledger: Ledger, metrics: Metrics) -> Job {
        let (longestAgo, drifted) = (Gauge(), Gauge())
        metrics.gauge(
            "deed_reconciled_timestamp_seconds",
            "When the least recently reconciled project was reconciled, or created if it never was."
        ) { longestAgo.value }
        metrics.gauge(
            "deed_projects_drifted",
            "Projects with a step that found drift or an error when it last ran."
        ) { drifted.value }
        return Job("reconciled", .everywhere(milliseconds: 15_000), urgency: .patient) {
            run throws(Fault) in
            let reconciled = try ledger.reconciled(at: run.startedAt, nightly: Job.nightly)
            longestAgo.set((reconciled.longestAgo?.milliseconds ?? 0) / 1000)
            drifted.set(reconciled.drifted)
            return .asScheduled
        }
    }
}

extension Intake {
    /// Returns whether the last complete reconciliation with all steps began in this night. An earlier one may carry
    /// the same night's date, because a clock was ahead.
    fileprivate func wasReconciled(
        _ project: ProjectID, in night: Range<Instant>
    ) throws(Fault) -> Bool {
        let last = try ledger.project(project).lastWholeReconciliation
        return last.map { night.contains($0.begunAt) } ?? false
    }

    /// Returns `false` if another run holds the right to reconcile.
    fileprivate func reconcile(
        _ wish: ReconcileWish, _ port: ReconcilePort, _ log: Log,
        while isWanted: @escaping () -> Bool
    ) throws(Fault) -> Bool {
        do throws(CommandError) {
            log.tell(
                try reconcile(wish, port, by: .job, while: isWanted), of: wish.project)
        } catch {
            switch error {
            case .fault(let fault): throw fault
            case .refused(.reconciliationRunning): return false
            case .refused(let refusal):
                log.warning(
                    "not_reconciled",
                    [
                        "project": .string(wish.project.text),
                        "reason": .string(refusal.withRemedy),
                    ])
            }
        }
        return true
    }
}

extension Sender {
    fileprivate static let job = Sender(
        actor: .clock, idempotencyKey: nil)
}

extension Log {
    fileprivate func tell(_ finished: ReconciliationFinished, of project: ProjectID) {
        var fields = JSONObject()
        fields.append("project", .string(project.text))
        fields.append("reconciliation", .string(finished.reconciliation.text))
        fields.append("drift", .integer(finished.drift))
        fields.append("errors", .integer(finished.errors.count))
        fields.append("milliseconds", .integer(finished.milliseconds))
        if finished.isSound { return info("reconciled", .object(fields)) }
        fields.append("reasons", .array(finished.reasons.map(JSON.string)))
        fields.append(
            "remedy",
            .string(
                "to see what to do, run: deed reconcile show \(finished.reconciliation) --project \(project)"
            ))
        error("drifted", .object(fields))
    }
}
