import API
import HTTPServer
import Telemetry

/// What serves the API, and what serves those who run Deed where that is apart.
struct Servers: Sendable {
    private let server: Server
    private let operations: Server?

    init(
        _ settings: ServiceSettings, _ router: Router, _ calls: Operations,
        stamp: (@Sendable () -> Header)?
    ) throws(ServerError) {
        if var apart = settings.operations {
            apart.stamp = stamp
            operations = try Server(
                apart, metrics: Metrics(), admit: { _ in .body(limit: 0, .strangers) },
                refusal: { Problem($0).response }, handler: { .now(calls.answer($0)) })
        } else {
            operations = nil
        }
        var settings = settings.server
        settings.stamp = stamp
        server = try Server(
            settings, metrics: calls.metrics, admit: { router.admit($0) },
            refusal: { Problem($0).response }, handler: { router.answer($0) })
    }

    var port: UInt16 { server.port }
    var operationsPort: UInt16? { operations?.port }

    /// The one for operations goes on to the end.
    func drain(milliseconds: Int64) -> Bool {
        let isDrained = server.drain(milliseconds: milliseconds)
        operations?.drain(milliseconds: 1000)
        return isDrained
    }
}
