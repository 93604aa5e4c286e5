import Glibc

/// How a server listens and what it bounds.
package struct ServerSettings: Sendable {
    /// `127.0.0.1:8080`, `[::1]:8080`, `localhost:8080`; `:8080` for every address; port 0 for a free one.
    package var listen = "127.0.0.1:8080"
    package var tls: TLSFiles?
    /// Threads that serve connections and answer what can be answered immediately. There are others who
    /// need processors: more of these than that would take them from each other.
    package var threads = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)) / 2)
    /// Threads that give the answers which take time.
    package var workers = 8
    /// Requests that may wait for a worker.
    package var queue = 1024
    package var connections = 4096
    /// Connections that one address may have; a trusted proxy may have all.
    package var connectionsPerAddress = 1024
    /// Proxies that speak for their clients.
    package var trustedProxies = TrustedProxies.none
    /// Memory for the bodies of all requests together.
    package var bodyMemory = 256 << 20
    /// The same for those of strangers, besides.
    package var strangersMemory = 32 << 20
    /// Threads that look at what strangers send, and requests that may wait for one: a client that waits asks for
    /// nothing more, a refused one comes back immediately. One address has an eighth of it.
    package var strangersWorkers = 2
    package var strangersQueue = 4096
    package var timeouts = ServerTimeouts()
    private(set) var claim: Claim?
    /// A header of every answer, made when it is given.
    package var stamp: (@Sendable () -> Header)?

    package init() {}

    /// Throws unless the address is one to listen on, even if another process has it now.
    package func checkAddress() throws(ServerError) { _ = try ListenAddress(listen) }

    /// Throws where another process has the address; takes it only for this moment.
    package func checkFree() throws(ServerError) { close(try ListenAddress(listen).bound()) }

    /// Takes the address and reads the TLS files, while this process may: one that gives up root's rights afterwards may
    /// not. Throws where another process has the address.
    package mutating func claimAddress() throws(ServerError) { claim = try Claim(self) }
}

/// What a server has before it hears anyone.
struct Claim: Sendable {
    let identity: TLSIdentity?
    private let address: ListenAddress
    private let listener: Int32

    init(_ settings: ServerSettings) throws(ServerError) {
        identity = try settings.tls.map(TLSIdentity.init)
        address = try ListenAddress(settings.listen)
        listener = try address.bound()
    }

    /// The socket, on which calls are heard from now on.
    func open() throws(ServerError) -> Int32 {
        try address.listen(on: listener)
        return listener
    }
}

/// PEM files of a certificate, with its chain, and its key.
package struct TLSFiles: Sendable {
    package var certificate: String
    package var key: String

    package init(certificate: String, key: String) {
        self.certificate = certificate
        self.key = key
    }
}

/// How long, in milliseconds, a client may take. Bytes that trickle in win it no more time.
package struct ServerTimeouts: Sendable {
    /// For the head of a request: of a new connection's first from the start, of a later one from
    /// the end of its first line.
    package var head: Int64 = 10_000
    /// For the body of a request, and for taking the answer.
    package var body: Int64 = 30_000
    /// From an answer to the first line of the next request.
    package var idle: Int64 = 60_000

    package init() {}
}
