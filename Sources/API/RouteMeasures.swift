import HTTPServer
import Synchronization
import Telemetry
import Threading

/// How often a route was called, with which outcome, and how long it took.
final class RouteMeasures: Sendable {
    private let metrics: Metrics
    private let labels: [(String, String)]
    private let times: Histogram
    private let counters = Mutex<[Int: Counter]>([:])

    init(_ metrics: Metrics, route: String, method: String) {
        self.metrics = metrics
        labels = [("route", route), ("method", method)]
        times = metrics.histogram(
            "deed_http_request_seconds", "From a request's last byte to its answer.",
            labels: labels)
    }

    func record(_ response: Response, since started: Int64) -> Response {
        times.record(monotonicMicroseconds() - started)
        counter(of: response.status).add()
        return response
    }

    private func counter(of status: Int) -> Counter {
        counters.withLock { counters in
            if let counter = counters[status] { return counter }
            let counter = metrics.counter(
                "deed_http_requests_total", "Requests answered.",
                labels: labels + [("status", String(status))])
            counters[status] = counter
            return counter
        }
    }
}
