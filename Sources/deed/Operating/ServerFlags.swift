import Assembly
import Commands
import HTTPServer

extension Invocation {
    /// The listening address, checked before anything is started.
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

    fileprivate func trustedProxies() throws(CommandEnd) -> TrustedProxies {
        guard let list = self["trusted-proxies"] else { return .none }
        guard let proxies = TrustedProxies(list) else {
            throw usage(
                "--trusted-proxies takes addresses and networks, as in 10.0.0.0/8,127.0.0.1,::1")
        }
        return proxies
    }
}

extension ServiceSettings {
    /// The server's and the ledger's settings from the flags, read before anything is started.
    init(_ invocation: Invocation) throws(CommandEnd) {
        self.init()
        version = Build.version
        server = try ServerSettings(invocation)
        operations = try ServerSettings(operationsOf: invocation)
        if let megabytes = try invocation.integer("answer-memory-megabytes", in: 1...1_000_000) {
            answerBytes = megabytes << 20
        }
        if let seconds = try invocation.integer("max-stale-seconds", in: 0...86_400) {
            staleMilliseconds = Int64(seconds) * 1000
        }
        if let time = invocation["reconcile-at"], !reconcile(at: time) {
            throw invocation.usage("--reconcile-at takes a time in UTC, as in 03:00")
        }
    }
}

extension ServerSettings {
    fileprivate init(_ invocation: Invocation) throws(CommandEnd) {
        self.init()
        listen = try invocation.listenAddress() ?? listen
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

    /// The operators' server; none unless it has its own address.
    fileprivate init?(operationsOf invocation: Invocation) throws(CommandEnd) {
        guard let address = try invocation.listenAddress("operations-listen") else { return nil }
        self.init()
        listen = address
        threads = 1
        workers = 1
        connections = 64
    }
}
