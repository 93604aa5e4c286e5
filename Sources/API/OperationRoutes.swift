import HTTPServer
import JSON
import OpenAPI
package import Service
package import Telemetry

/// The calls of those who run Deed.
package struct Operations: Sendable {
    /// What keeps this instance from answering, in sentences; empty when it is ready.
    package var obstacles: @Sendable () -> [String]
    package var metrics: Metrics
    package var log: Log
    /// Whether these calls have an address of their own. Whether the service is alive is told at both.
    package var isApart = false
    /// The database's test clock, where it has one.
    package var testClock: SharedClock?

    package init(
        obstacles: @escaping @Sendable () -> [String], metrics: Metrics, log: Log = .silent,
        testClock: SharedClock? = nil
    ) {
        self.obstacles = obstacles
        self.metrics = metrics
        self.log = log
        self.testClock = testClock
    }

    /// What stands at the API's root.
    var surface: Surface {
        isApart ? Surface(prefix: "", routes: [open("/healthz", health)]) : wholeSurface
    }

    /// All of them, at an address of their own.
    package func router(_ ports: Ports, keys: KeyRing) -> Router {
        // Who measures Deed does not measure itself.
        Router([wholeSurface], ports, keys: keys, Metrics(), log)
    }

    private var wholeSurface: Surface {
        Surface(
            prefix: "",
            routes: [
                open("/healthz", health), open("/readyz", readiness), open("/metrics", measures),
                .file("/openapi.json", type: "application/json", Operations.openAPI),
            ])
    }

    private func open(_ path: String, _ respond: @escaping @Sendable () -> Response) -> Route {
        Route("GET", path, .memory) { _ in (.known, respond().reaction) }
    }

    private func health() -> Response { .json(["alive": true]) }

    private func readiness() -> Response {
        let obstacles = obstacles()
        if obstacles.isEmpty { return .json(["ready": true]) }
        return .json(
            ["ready": false, "reasons": .array(obstacles.map(JSON.string))], status: 503)
    }

    private static let openAPI = LastingBody(OpenAPI.document)

    private func measures() -> Response {
        Response(
            status: 200, headers: [Header("Content-Type", "text/plain; version=0.0.4")],
            body: Array(metrics.text().utf8))
    }
}
