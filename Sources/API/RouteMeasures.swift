import HTTPServer
import Synchronization
import Telemetry
import Threading

/// How often a route was called, with which outcome, and how long it took.
final class RouteMeasures: Sendable {
    private let metrics: Metrics
    private let labels: [(String, String)]
    private let times: Histogram
    private let lanes: Int
    /// One for each status so far.
    private let counters = Mutex<[(status: Int, counter: Counter)]>([])

    /// `lanes` as a `Counter` has them.
    init(_ metrics: Metrics, route: String, method: String, lanes: Int = 1) {
        self.metrics = metrics
        self.lanes = lanes
        labels = [("route", route), ("method", method)]
        times = metrics.histogram(
            "deed_http_request_seconds", "From a request's last byte to its answer.",
            labels: labels, lanes: lanes)
    }

    func record(_ response: Response, since started: Int64) -> Response {
        record(counter(of: response.status), since: started, lane: 0)
        return response
    }

    /// The same for whoever keeps the counter of its answers' status.
    func record(_ counter: Counter, since started: Int64, lane: Int) {
        times.record(monotonicMicroseconds() - started, lane: lane)
        counter.add(lane: lane)
    }

    func counter(of status: Int) -> Counter {
        counters.withLock { counters in
            for known in counters where known.status == status { return known.counter }
            let counter = metrics.counter(
                "deed_http_requests_total", "Requests answered.",
                labels: labels + [("status", String(status))], lanes: lanes)
            counters.append((status, counter))
            return counter
        }
    }
}
