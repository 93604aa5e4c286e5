import Core
import Telemetry

struct JobMeasures: Sendable {
    private let lastRun = Gauge()
    private let duration = Gauge()
    private let failures: Counter
    private let machineClock: @Sendable () -> Instant

    init(_ name: String, _ metrics: Metrics, _ machineClock: @escaping @Sendable () -> Instant) {
        self.machineClock = machineClock
        let labels = [("job", name)]
        metrics.gauge(
            "deed_job_last_run_timestamp_seconds",
            "When this instance last completed the job, by its machine's clock; 0 for never.",
            labels: labels
        ) { [lastRun] in lastRun.value }
        metrics.gauge(
            "deed_job_last_run_milliseconds", "How long that run took.", labels: labels
        ) { [duration] in duration.value }
        failures = metrics.counter(
            "deed_job_failures_total", "Runs that failed; each is retried.", labels: labels)
    }

    func noteRun(_ milliseconds: Int64) {
        lastRun.set(machineClock().milliseconds / 1000)
        duration.set(milliseconds)
    }

    func noteFailure() { failures.add() }
}
