import API
import HTTPServer
import Telemetry

/// The API's server, and the operators' server if it has a separate address.
struct Servers: Sendable {
    private let server: Server
    private let operations: Server?
    private let console: Server?

    init(
        _ settings: ServiceSettings, _ parts: Parts, _ calls: Operations,
        stamp: (@Sendable () -> Header)?
    ) throws(ServerError) {
        if var apart = settings.operations {
            apart.stamp = stamp
            let router = calls.router(parts.live.useCases, keys: parts.keys)
            operations = try Server(
                apart, metrics: Metrics(), admit: { _ in .body(limit: 0, .strangers) },
                refusal: { router.refuse($0, at: $1) }, handler: { router.answer($0) })
        } else {
            operations = nil
        }
        let pages = settings.console.map {
            parts.console(
                calls, speaksTLS: $0.speaksTLS, requiresSecondFactor: $0.requiresSecondFactor)
        }
        if var apart = settings.console?.server, let pages {
            apart.stamp = stamp
            console = try Server(
                apart, metrics: Metrics(),
                Router(pages: pages, parts.live.useCases, keys: parts.keys, operations: calls))
        } else {
            console = nil
        }
        let isShared = console == nil
        var settings = settings.server
        settings.stamp = stamp
        server = try Server(
            settings, metrics: calls.metrics,
            parts.router(calls, pages: isShared ? pages : nil))
    }

    var port: UInt16 { server.port }
    var operationsPort: UInt16? { operations?.port }
    var consolePort: UInt16? { console?.port }

    /// Reads the TLS files again. New connections use the new certificate.
    func renewIdentity() throws(ServerError) {
        try server.renewIdentity()
        try console?.renewIdentity()
    }

    var certificateEnds: Int64? { server.certificateEnds }

    /// Drains the servers. The operators' server keeps answering until the end.
    func drain(milliseconds: Int64) -> Bool {
        console?.drain(milliseconds: 1000)
        let isDrained = server.drain(milliseconds: milliseconds)
        operations?.drain(milliseconds: 1000)
        return isDrained
    }
}
