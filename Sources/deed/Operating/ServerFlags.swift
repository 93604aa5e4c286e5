import Assembly
import Commands
import HTTPServer

extension Invocation {
    /// Returns the address to listen on, after checking it.
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
    /// The server's and the ledger's settings, read before anything starts.
    init(_ invocation: Invocation) throws(CommandEnd) {
        self.init()
        version = Build.version
        server = try ServerSettings(invocation)
        operations = try ServerSettings(operationsOf: invocation)
        console = try ConsoleSettings(invocation, beside: server)
        if let megabytes = try invocation.integer("answer-memory-megabytes", in: 1...1_000_000) {
            answerBytes = megabytes << 20
        }
        if let seconds = try invocation.integer("max-stale-seconds", in: 0...86_400) {
            staleMilliseconds = Int64(seconds) * 1000
        }
        if let time = invocation["reconcile-at"], !reconcile(at: time) {
            throw invocation.usage("--reconcile-at takes a time in UTC, as in 03:00")
        }
        if let age = invocation["forget-after"], !forget(after: age) {
            throw invocation.usage(
                "--forget-after takes a duration of 200 days or more, as in P400D, or off")
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
        default: throw invocation.usage("give --tls-certificate and --tls-key together")
        }
    }

    /// The settings of the operators' server; `nil` unless it has a separate address.
    fileprivate init?(operationsOf invocation: Invocation) throws(CommandEnd) {
        guard let address = try invocation.listenAddress("operations-listen") else { return nil }
        self.init()
        listen = address
        threads = 1
        workers = 1
        connections = 64
    }
}

extension ConsoleSettings {
    /// The console's settings; `nil` without `--console`.
    fileprivate init?(
        _ invocation: Invocation, beside shared: ServerSettings
    ) throws(CommandEnd) {
        let address = try invocation.listenAddress("console-listen")
        let secondFactor = invocation["console-second-factor"] ?? "optional"
        guard ["required", "optional"].contains(secondFactor) else {
            throw invocation.usage("--console-second-factor takes required or optional")
        }
        guard invocation.has("console") else {
            for option in ["console-listen", "console-second-factor"]
            where invocation.isWritten(option) {
                throw invocation.usage("--\(option) needs --console")
            }
            return nil
        }
        var apart: ServerSettings?
        if let address {
            var settings = shared
            settings.listen = address
            settings.threads = 1
            settings.connections = 256
            settings.connectionsPerAddress = min(settings.connectionsPerAddress, 64)
            apart = settings
        }
        guard let settings = ConsoleSettings(apart: apart, sharing: shared) else {
            throw .refused(
                code: "console_unprotected",
                sentence:
                    "The console at \(address ?? shared.listen) would receive passwords over plain HTTP. Serve HTTPS "
                    + "with --tls-certificate and --tls-key, or put an HTTPS proxy in front and name it "
                    + "with --trusted-proxies. To serve the console on this machine only, give: "
                    + "--console-listen 127.0.0.1:8081")
        }
        self = settings
        requiresSecondFactor = secondFactor == "required"
    }
}
