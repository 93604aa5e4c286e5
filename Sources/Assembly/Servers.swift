import API
import HTTPServer
import Telemetry

extension Invocation {
    /// Where to listen, checked before anything is started.
    func listenAddress(_ name: String = "listen") throws(CommandEnd) -> String? {
        guard let text = self[name] else { return nil }
        var settings = ServerSettings()
        settings.listen = text
        do throws(ServerError) {
            try settings.checkAddress()
        } catch {
            throw usage(error.description)
        }
        return text
    }
}

extension Invocation {
    fileprivate func trustedProxies() throws(CommandEnd) -> TrustedProxies {
        guard let list = self["trusted-proxies"] else { return .none }
        guard let proxies = TrustedProxies(list) else {
            throw usage(
                "--trusted-proxies takes addresses and networks, as in 10.0.0.0/8,127.0.0.1,::1")
        }
        return proxies
    }
}

/// What serves the API, and what serves those who run Deed where that is apart.
struct Servers: Sendable {
    private let server: Server
    private let operations: Server?

    init(
        _ settings: ServerSettings, _ router: Router, _ apart: ServerSettings?,
        _ calls: Operations, _ metrics: Metrics
    ) throws(ServerError) {
        if var apart {
            apart.stamp = settings.stamp
            operations = try Server(
                apart, metrics: Metrics(), admit: { _ in .body(limit: 0, .strangers) },
                refusal: { Problem($0).response }, handler: { .now(calls.answer($0)) })
        } else {
            operations = nil
        }
        server = try Server(
            settings, metrics: metrics, admit: { router.admit($0) },
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

extension ServerSettings {
    init(_ invocation: Invocation) throws(CommandEnd) {
        self.init()
        listen = try invocation.listenAddress() ?? listen
        workers = try invocation.integer("workers", in: 1...1000) ?? workers
        queue = try invocation.integer("queue", in: 1...100_000) ?? queue
        connections = try invocation.integer("connections", in: 1...100_000) ?? connections
        connectionsPerAddress =
            try invocation.integer("connections-per-address", in: 1...100_000)
            ?? connectionsPerAddress
        trustedProxies = try invocation.trustedProxies()
        switch (invocation["tls-certificate"], invocation["tls-key"]) {
        case (let certificate?, let key?): tls = TLSFiles(certificate: certificate, key: key)
        case (nil, nil): break
        default: throw invocation.usage("--tls-certificate and --tls-key go together")
        }
    }

    /// The server of those who run Deed; none unless it has an address of its own.
    init?(operationsOf invocation: Invocation) throws(CommandEnd) {
        guard let address = try invocation.listenAddress("operations-listen") else { return nil }
        self.init()
        listen = address
        threads = 1
        workers = 1
        connections = 64
    }
}
