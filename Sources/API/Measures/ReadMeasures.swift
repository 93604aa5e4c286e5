package import Answers
import Core
package import Service
package import Telemetry

extension Customers: AnswerSource {}

extension CustomerReads {
    /// Publishes statistics about the answers kept in memory.
    package func publish(to metrics: Metrics) {
        func count(
            _ name: String, _ help: String, _ value: @escaping @Sendable (AnswerTally) -> Int64
        ) {
            metrics.counter(name, help) { [cache] in value(cache.tally) }
        }
        count("deed_answer_hits_total", "Reads whose answer was in memory.", \.hits)
        count("deed_answer_misses_total", "Reads whose answer was not in memory.", \.misses)
        count(
            "deed_answer_evictions_total", "Answers removed to make room for others.", \.evictions)
        metrics.counter("deed_answer_stale_total", "Answers served as stale.") {
            [weak self] in self?.staleCount ?? 0
        }
        metrics.gauge("deed_answer_bytes", "Memory used by answers, approximately.") {
            [cache] in cache.tally.bytes
        }
        metrics.gauge("deed_answers", "Answers in memory.") { [cache] in cache.tally.entries }
        metrics.gauge(
            "deed_tail_lag_milliseconds",
            "Time since this instance last reached the end of the log."
        ) { [cache] in cache.lag }
    }
}
