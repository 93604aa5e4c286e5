package import Core
package import Telemetry
import Threading

/// Metrics about this instance's deliveries.
package final class DeliveryMeasures: Sendable {
    struct Standing: Sendable {
        var lag: Int64 = 0
        var oldestAt: Instant?
        var parked: Int64 = 0
    }
    private let standings = Monitor<[WebhookName: Standing]>([:])
    private let delivered: Counter
    private let failed: Counter
    private let now: @Sendable () -> Instant

    package init(_ metrics: Metrics, now: @escaping @Sendable () -> Instant) {
        self.now = now
        func counter(_ outcome: String) -> Counter {
            metrics.counter(
                "deed_webhook_attempts_total", "Requests to webhooks, by their outcome.",
                labels: [("outcome", outcome)])
        }
        delivered = counter("delivered")
        failed = counter("failed")
        metrics.gauge(
            "deed_webhook_lag_events",
            "How many events the slowest of this instance's webhooks has yet to read."
        ) { [standings] in standings.change(wake: .none) { $0.values.map(\.lag).max() ?? 0 } }
        metrics.gauge(
            "deed_webhook_lag_seconds",
            "The age of the oldest event that has not arrived at one of this instance's webhooks."
        ) { [standings, now] in
            let oldest = standings.change(wake: .none) { $0.values.compactMap(\.oldestAt).min() }
            return oldest.map { max(0, now().milliseconds - $0.milliseconds) / 1000 } ?? 0
        }
        metrics.gauge(
            "deed_webhook_parked",
            "Customers and webhooks that get nothing until they are resumed, of the webhooks that this "
                + "instance sends to."
        ) { [standings] in standings.change(wake: .none) { $0.values.reduce(0) { $0 + $1.parked } }
        }
    }

    func count(_ isDelivered: Bool) { (isDelivered ? delivered : failed).add() }

    func note(_ name: WebhookName, _ standing: Standing?) {
        standings.change(wake: .none) { $0[name] = standing }
    }
}
