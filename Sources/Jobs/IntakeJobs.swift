import Core
import JSON
package import Service
package import Telemetry
import Threading

/// Works the queue of evidence off, on some threads of its own, for as long as the service runs.
package final class IntakeWorkers: Sendable {
    private static let count = 2
    /// How long to rest when nothing is due, or when the database did not answer.
    private static let pause: Int64 = 1000
    private static let hour: Int64 = 3_600_000
    /// How old what is told of the queue may become.
    private static let countsAge: Int64 = 10_000

    private struct State {
        var isStopping = false
        /// How often it was hurried.
        var hurries = 0
        var running = IntakeWorkers.count
        var countedAt: Int64?
        var cleanedAt: Int64?
    }
    private let state = Monitor(State())
    private let ports: Ports
    private let worker: IntakeWorker
    private let log: Log
    private let measures: IntakeMeasures

    package init(_ ports: Ports, _ worker: IntakeWorker, log: Log, metrics: Metrics) {
        self.ports = ports
        self.worker = worker
        self.log = log
        measures = IntakeMeasures(metrics, ports.now)
    }

    package func start() {
        for index in 0..<IntakeWorkers.count {
            startThread("intake-\(index)", .patient) { [self] in
                while !isStopping {
                    let hurries = state.change(wake: .nobody) { $0.hurries }
                    keepHouse()
                    if !work() { rest(unlessHurriedSince: hurries) }
                }
                state.change { $0.running -= 1 }
            }
        }
    }

    package func stop() {
        state.change { $0.isStopping = true }
    }

    /// Looks at once: more may be due by now.
    package func hurry() {
        state.change { $0.hurries += 1 }
    }

    /// Whether what was begun comes to its end in time; what does not is judged again later.
    package func isOver(within milliseconds: Int64) -> Bool {
        state.wait(milliseconds: milliseconds) { $0.running == 0 ? true : nil } ?? false
    }

    private var isStopping: Bool { state.change(wake: .nobody) { $0.isStopping } }

    private func rest(unlessHurriedSince hurries: Int) {
        _ = state.wait(milliseconds: IntakeWorkers.pause) {
            $0.isStopping || $0.hurries != hurries ? () : nil
        }
    }

    /// Judges one item; false when there was none to judge.
    private func work() -> Bool {
        do throws(CommandError) {
            guard let work = try worker.work() else { return false }
            measures.count(work)
            if work.isAlarming { alarm(work.item) }
            return true
        } catch {
            // The item comes back when its lease ends; the watch logs an unreachable database.
            if case .fault(.broken(let reason)) = error {
                log.error("intake_broken", ["reason": .string(reason)])
            }
            return false
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

    /// Counts the queue now and then, and forgets once an hour what ended long ago.
    private func keepHouse() {
        let time = monotonicMilliseconds()
        let now = ports.now().milliseconds
        let (counts, cleans) = state.change(wake: .nobody) { state in
            let counts = time - (state.countedAt ?? .min / 2) >= IntakeWorkers.countsAge
            // By the clock that all follow: hours that a test jumps over have passed, too.
            let cleans = abs(now - (state.cleanedAt ?? .min / 2)) >= IntakeWorkers.hour
            if counts { state.countedAt = time }
            if cleans { state.cleanedAt = now }
            return (counts, cleans)
        }
        do throws(Fault) {
            if counts { measures.tell(try ports.intake.counts()) }
            if !cleans { return }
            let end = ports.now().advanced(byMilliseconds: -IntakeItem.retention)
            var forgotten = 0
            while case let some = try ports.intake.clean(end), some > 0 { forgotten += some }
            if forgotten > 0 { log.info("intake_cleaned", ["items": .integer(forgotten)]) }
        } catch {
            // Both are done again later; the watch logs an unreachable database.
        }
    }
}

/// What the queue and its workers measure.
private struct IntakeMeasures: Sendable {
    private let waiting = Gauge()
    private let alarming = Gauge()
    /// In milliseconds since 1970; 0 when nothing waits.
    private let oldest = Gauge()
    private let outcomes: [IntakeItem.State.Word: Counter]

    init(_ metrics: Metrics, _ now: @escaping @Sendable () -> Instant) {
        metrics.gauge("deed_intake_waiting", "Queued evidence that waits, of all projects.") {
            [waiting] in waiting.value
        }
        metrics.gauge(
            "deed_intake_stuck",
            "Queued evidence that was tried \(IntakeItem.alarmTries) times or more."
        ) { [alarming] in alarming.value }
        metrics.gauge("deed_intake_oldest_seconds", "For how long the oldest of it waits.") {
            [oldest] in
            oldest.value == 0 ? 0 : max(0, (now().milliseconds - oldest.value) / 1000)
        }
        var outcomes: [IntakeItem.State.Word: Counter] = [:]
        for word in [IntakeItem.State.Word.waiting, .believed, .refused] {
            outcomes[word] = metrics.counter(
                "deed_intake_tries_total", "Tries to judge queued evidence.",
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
