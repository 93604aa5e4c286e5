import Core
import JSON
package import Service
package import Telemetry
import Threading

/// Background work on queued evidence.
package struct IntakeJobs: Sendable {
    private static let hour: Int64 = 3_600_000
    private let intake: Intake
    private let worker: IntakeWorker
    private let log: Log
    private let measures: IntakeMeasures

    package init(_ submissions: Submissions, log: Log, metrics: Metrics) {
        intake = submissions.intake
        worker = IntakeWorker(submissions)
        self.log = log
        measures = IntakeMeasures(metrics, intake.now)
    }

    package var all: [Job] {
        [
            Job(
                "intake", .everywhere(milliseconds: 1000), threads: IntakeWorker.count,
                urgency: .patient, work: judge),
            Job("intake-counts", .everywhere(milliseconds: 10_000), urgency: .patient) {
                _ throws(Fault) in
                measures.tell(try intake.queue.intakeCounts())
                return .asScheduled
            },
            Job(
                "intake-cleaning", .once(milliseconds: IntakeJobs.hour), urgency: .patient,
                work: clean),
        ]
    }

    /// Judges one item, if any is due. After a fault, the item becomes due again when its lease ends.
    private func judge(_: Run) throws(Fault) -> Job.Next {
        do throws(CommandError) {
            guard let work = try worker.work() else { return .asScheduled }
            measures.count(work)
            if work.isAlarming { alarm(work.item) }
            return .atOnce
        } catch {
            guard case .fault(let fault) = error else { return .asScheduled }
            throw fault
        }
    }

    private func alarm(_ item: IntakeItem) {
        log.error(
            "intake_stuck",
            [
                "intake": .string(item.id.text), "project": .string(item.wish.project.text),
                "app": .string(item.wish.heading.app.text), "tries": .integer(item.tries),
                "code": .optional(item.reason?.code), "reason": .optional(item.reason?.sentence),
            ])
    }

    /// Deletes items that were settled long ago.
    private func clean(_ run: Run) throws(Fault) -> Job.Next {
        guard let lease = run.lease else { return .asScheduled }
        let end = run.startedAt.advanced(byMilliseconds: -IntakeItem.retention)
        var forgotten = 0
        while run.goesOn,
            case let some = try intake.queue.cleanIntake(endedBefore: end, under: lease), some > 0
        {
            forgotten += some
        }
        if forgotten > 0 { log.info("intake_cleaned", ["items": .integer(forgotten)]) }
        return .asScheduled
    }
}

private struct IntakeMeasures: Sendable {
    private let waiting = Gauge()
    private let alarming = Gauge()
    /// When the oldest waiting item started to wait, in milliseconds since 1970; 0 if there is
    /// none.
    private let oldest = Gauge()
    private let outcomes: [IntakeItem.State.Word: Counter]

    init(_ metrics: Metrics, _ now: @escaping @Sendable () -> Instant) {
        metrics.gauge("deed_intake_waiting", "Queued evidence that is waiting, in all projects.") {
            [waiting] in waiting.value
        }
        metrics.gauge(
            "deed_intake_stuck",
            "Queued evidence that Deed has tried \(IntakeItem.alarmTries) times or more to judge."
        ) { [alarming] in alarming.value }
        metrics.gauge(
            "deed_intake_oldest_seconds", "How long the oldest queued evidence has waited."
        ) {
            [oldest] in
            oldest.value == 0 ? 0 : max(0, (now().milliseconds - oldest.value) / 1000)
        }
        var outcomes: [IntakeItem.State.Word: Counter] = [:]
        for word in [IntakeItem.State.Word.waiting, .believed, .refused] {
            outcomes[word] = metrics.counter(
                "deed_intake_tries_total", "Attempts to judge queued evidence.",
                labels: [("outcome", word == .waiting ? "again" : word.rawValue)])
        }
        self.outcomes = outcomes
    }

    func count(_ work: IntakeWorker.Work) {
        outcomes[work.item.state.word]?.add()
    }

    func tell(_ counts: IntakeCounts) {
        waiting.set(counts.waiting)
        alarming.set(counts.alarming)
        oldest.set(counts.oldest?.milliseconds ?? 0)
    }
}
