import HTTPServer
import JSON
import OpenAPI
package import Telemetry

/// The calls of those who run Deed.
package struct Operations: Sendable {
    /// What keeps this instance from answering, in sentences; empty when it is ready.
    package var obstacles: @Sendable () -> [String]
    package var metrics: Metrics

    package init(obstacles: @escaping @Sendable () -> [String], metrics: Metrics) {
        self.obstacles = obstacles
        self.metrics = metrics
    }

    var routes: [Route] {
        [
            Route("GET", "/healthz", .open { .json(["alive": true]) }),
            Route("GET", "/readyz", .open(readiness)),
            Route("GET", "/metrics", .open(measures)),
            Route("GET", "/openapi.json", .open(document)),
        ]
    }

    private func readiness() -> Response {
        let obstacles = obstacles()
        if obstacles.isEmpty { return .json(["ready": true]) }
        return .json(
            ["ready": false, "reasons": .array(obstacles.map(JSON.string))], status: 503)
    }

    private func document() -> Response {
        Response(
            status: 200, headers: [Header("Content-Type", "application/json"), Response.askAgain],
            body: OpenAPI.document)
    }

    private func measures() -> Response {
        Response(
            status: 200, headers: [Header("Content-Type", "text/plain; version=0.0.4")],
            body: Array(metrics.text().utf8))
    }
}
