package import HTTPServer
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

    /// Those that the API's address answers.
    var routes: [Route] {
        let health = open("/healthz", health)
        if isApart { return [health] }
        return [
            health, open("/readyz", readiness), open("/metrics", measures),
            open("/openapi.json", document),
        ]
    }

    private func open(_ path: String, _ respond: @escaping @Sendable () -> Response) -> Route {
        Route("GET", path, .memory) { _, _ in (.known, .answered(respond())) }
    }

    /// The answer where these calls have an address of their own.
    package func answer(_ request: borrowing Request) -> Response {
        let calls = [
            "/healthz": health, "/readyz": readiness, "/metrics": measures,
            "/openapi.json": document,
        ]
        guard let call = calls[request.path] else { return Problem.unknownRoute.response }
        return request.isGet ? call() : Problem.wrongMethod(allowed: ["GET"]).response
    }

    private func health() -> Response { .json(["alive": true]) }

    private func readiness() -> Response {
        let obstacles = obstacles()
        if obstacles.isEmpty { return .json(["ready": true]) }
        return .json(
            ["ready": false, "reasons": .array(obstacles.map(JSON.string))], status: 503)
    }

    private static let openAPI = LastingBody(OpenAPI.document)

    private func document() -> Response {
        Response(
            status: 200, headers: [Header("Content-Type", "application/json"), Response.askAgain],
            body: Operations.openAPI)
    }

    private func measures() -> Response {
        Response(
            status: 200, headers: [Header("Content-Type", "text/plain; version=0.0.4")],
            body: Array(metrics.text().utf8))
    }
}
