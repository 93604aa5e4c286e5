package import Feed
package import Telemetry

extension Feed {
    /// Publishes the number of calls that wait for events.
    package func publish(to metrics: Metrics) {
        metrics.gauge("deed_feed_waiting", "Calls that are waiting for events of a feed.") {
            [weak self] in Int64(self?.waiting ?? 0)
        }
    }
}
