import HTTPServer
import Synchronization
import Telemetry
import Threading

/// The number of calls to a route, the statuses of their answers, and how long they took.
final class RouteMeasures: Sendable {
    private let metrics: Metrics
    private let labels: [(String, String)]
    private let times: Histogram
    /// The number of threads that can count answers without contention.
    private static let lanes = 8
    /// One counter for each status seen so far.
    private let counters = Mutex<[(status: Int, counter: Counter)]>([])

    init(_ metrics: Metrics, route: String, method: String) {
        self.metrics = metrics
        labels = [("route", route), ("method", method)]
        times = metrics.histogram(
            "deed_http_request_seconds", "The time from a request's last byte to its answer.",
            labels: labels, lanes: RouteMeasures.lanes)
    }

    func record(_ response: consuming Response, since started: Int64) -> Response {
        // Spreads the counts over the lanes: answers counted at the same time usually have
        // different start times.
        let lane = Int(started & 0xFF)
        times.record(monotonicMicroseconds() - started, lane: lane)
        counter(of: response.status).add(lane: lane)
        return response
    }

    private func counter(of status: Int) -> Counter {
        counters.withLock { counters in
            for known in counters where known.status == status { return known.counter }
            let counter = metrics.counter(
                "deed_http_requests_total", "Requests answered.",
                labels: labels + [("status", String(status))], lanes: RouteMeasures.lanes)
            counters.append((status, counter))
            return counter
        }
    }
}
