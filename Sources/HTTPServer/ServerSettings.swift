import Glibc

/// A server's address and limits.
package struct ServerSettings: Sendable {
    /// `127.0.0.1:8080`, `[::1]:8080`, `localhost:8080`; `:8080` for every address; port 0 for a free one.
    package var listen = "127.0.0.1:8080"
    package var tls: TLSFiles?
    /// Threads that serve connections and answer what can be answered immediately. Other threads need
    /// processors too, and more of these would take them away.
    package var threads = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)) / 2)
    /// Threads for answers that take time.
    package var workers = 8
    /// How many requests may wait for a worker.
    package var queue = 1024
    package var connections = 4096
    /// How many connections one address may have; a trusted proxy may have all.
    package var connectionsPerAddress = 1024
    /// Proxies that speak for their clients.
    package var trustedProxies = TrustedProxies.none
    /// Memory for all request bodies together.
    package var bodyMemory = 256 << 20
    /// Additional memory for strangers' bodies.
    package var strangersMemory = 32 << 20
    /// Threads for strangers' requests, and the length of their queue: a waiting client asks for nothing
    /// more, but a refused one comes back immediately. One address may have an eighth of it.
    package var strangersWorkers = 2
    package var strangersQueue = 4096
    package var timeouts = ServerTimeouts()
    private(set) var claim: Claim?
    /// A header of every answer, made when the answer is given.
    package var stamp: (@Sendable () -> Header)?

    package init() {}

    /// Throws unless the address is valid for listening, even if another process has it now.
    package func checkAddress() throws(ServerError) { _ = try ListenAddress(listen) }

    /// Throws if another process has the address; takes it only for this moment.
    package func checkFree() throws(ServerError) { close(try ListenAddress(listen).bound()) }

    /// Claims the address and reads the TLS files while this process may: after giving up root's rights it
    /// may not. Throws if another process has the address.
    package mutating func claimAddress() throws(ServerError) { claim = try Claim(self) }
}

/// What a server claims before it listens.
struct Claim: Sendable {
    let identity: TLSIdentity?
    private let address: ListenAddress
    private let listener: Int32

    init(_ settings: ServerSettings) throws(ServerError) {
        identity = try settings.tls.map(TLSIdentity.init)
        address = try ListenAddress(settings.listen)
        listener = try address.bound()
    }

    /// The socket, which listens from now on.
    func open() throws(ServerError) -> Int32 {
        try address.listen(on: listener)
        return listener
    }
}

/// PEM files of a certificate with its chain, and of its key.
package struct TLSFiles: Sendable {
    package var certificate: String
    package var key: String

    package init(certificate: String, key: String) {
        self.certificate = certificate
        self.key = key
    }

    /// When the certificate ends, in seconds since 1970. Throws unless a server could use both files.
    package func certificateEnds() throws(ServerError) -> Int64 { try TLSIdentity(self).ends }
}

/// How long, in milliseconds, a client may take. Sending bytes slowly gains no more time.
package struct ServerTimeouts: Sendable {
    /// For the head of a request: for a new connection's first from the start, for a later one from
    /// the end of its first line.
    package var head: Int64 = 10_000
    /// For the body of a request, and for receiving the answer.
    package var body: Int64 = 30_000
    /// From an answer to the first line of the next request.
    package var idle: Int64 = 60_000

    package init() {}
}
