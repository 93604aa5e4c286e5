import HTTPServer
import JSON
import OpenAPI
package import Service
package import Telemetry

/// A reason why this instance cannot answer normally.
package struct Obstacle: Sendable {
    package let sentence: String
    /// Whether the instance still answers reads correctly.
    let allowsReads: Bool

    package init(_ sentence: String, allowsReads: Bool = false) {
        self.sentence = sentence
        self.allowsReads = allowsReads
    }
}

/// Calls for operators.
package struct Operations: Sendable {
    /// The reasons why this instance is not ready; empty if it is ready.
    package var obstacles: @Sendable () -> [Obstacle]
    package var metrics: Metrics
    package var log: Log
    /// Whether these calls are served at a separate address. Both addresses then report that the service is alive.
    package var isApart = false
    /// The database's test clock, if it has one.
    package var testClock: SharedClock?

    package init(
        obstacles: @escaping @Sendable () -> [Obstacle], metrics: Metrics, log: Log = .silent,
        testClock: SharedClock? = nil
    ) {
        self.obstacles = obstacles
        self.metrics = metrics
        self.log = log
        self.testClock = testClock
    }

    /// The operating calls at the API's root.
    var surface: Surface {
        isApart ? Surface(prefix: "", routes: [open("/healthz", health)]) : wholeSurface
    }

    /// Returns a router for all operating calls, at a separate address.
    package func router(_ useCases: UseCases, keys: KeyRing) -> Router {
        // Calls that read metrics are not measured.
        Router([wholeSurface], useCases, keys: keys, Metrics(), log)
    }

    private var wholeSurface: Surface {
        Surface(
            prefix: "",
            routes: [
                open("/healthz", health),
                Route("GET", "/readyz", parameters: Operations.uses, .memory) {
                    call throws(Problem) in (.known, try readiness(call).reaction)
                },
                open("/metrics", measures),
                .file("/openapi.json", type: "application/json", Operations.openAPI),
            ])
    }

    private func open(_ path: String, _ respond: @escaping @Sendable () -> Response) -> Route {
        Route("GET", path, .memory) { _ in (.known, respond().reaction) }
    }

    private func health() -> Response { .json(["alive": true]) }

    /// Reports whether the instance is fully operational. With `for=reads`, reports only whether reads are correct.
    private func readiness(_ call: OpenCall) throws(Problem) -> Response {
        let use = call.query["for"]
        if let use, use != "reads" {
            throw .invalid("for", "The parameter \"for\" must be \"reads\", or be left out.")
        }
        let obstacles = obstacles().filter { use == nil || !$0.allowsReads }.map(\.sentence)
        if obstacles.isEmpty { return .json(["ready": true]) }
        return .json(
            ["ready": false, "reasons": .array(obstacles.map(JSON.string))], status: 503)
    }

    /// The parameters of `/readyz`.
    private static let uses = ["for"]

    private static let openAPI = LastingBody(OpenAPI.document)

    private func measures() -> Response {
        Response(
            status: 200, headers: [Header(.contentType, "text/plain; version=0.0.4")],
            body: Array(metrics.text().utf8))
    }
}
