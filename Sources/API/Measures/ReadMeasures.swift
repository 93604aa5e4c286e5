package import Answers
import Core
package import Service
package import Telemetry

extension CustomerReads {
    /// `staleMilliseconds` is how old a stale answer may be.
    package convenience init(
        _ customers: Customers, cache: AnswerCache, staleMilliseconds: Int64 = 60_000
    ) {
        self.init(
            AnswersPort(
                view: { customers.view(of: $0, then: $1) },
                views: { streams throws(Fault) in try customers.views(of: streams) },
                heads: { () throws(Fault) in try customers.reading.heads() },
                now: customers.now),
            cache: cache, staleMilliseconds: staleMilliseconds)
    }

    /// Publishes what the answers in memory come to.
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
