import Glibc

/// A server's address and limits.
package struct ServerSettings: Sendable {
    /// The address to listen on, such as `127.0.0.1:8080`, `[::1]:8080` or `localhost:8080`, or `:8080` for every
    /// address. Port 0 selects a free port.
    package var listen = "127.0.0.1:8080"
    package var tls: TLSFiles?
    /// The number of threads that serve connections and give immediate answers. More of them would take processor time
    /// away from other threads.
    package var threads = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)) / 2)
    /// The number of threads for answers that take time.
    package var workers = 8
    /// The maximum number of requests that wait for a worker.
    package var queue = 1024
    package var connections = 4096
    /// The maximum number of connections per address. A trusted proxy may use all connections.
    package var connectionsPerAddress = 1024
    /// Proxies that are trusted to name their clients.
    package var trustedProxies = TrustedProxies.none
    /// The memory for all request bodies together, in bytes.
    package var bodyMemory = 256 << 20
    /// Additional memory for strangers' request bodies, in bytes.
    package var strangersMemory = 32 << 20
    /// The number of threads for strangers' requests, and the length of their queue. The queue is
    /// long because waiting clients send nothing more, while refused clients come back immediately.
    /// One address can use up to an eighth of the queue.
    package var strangersWorkers = 2
    package var strangersQueue = 4096
    package var timeouts = ServerTimeouts()
    private(set) var claim: Claim?
    /// Creates a header that is added to every answer when it is sent.
    package var stamp: (@Sendable () -> Header)?

    package init() {}

    /// Throws if the address is invalid. Does not check whether another process uses it.
    package func checkAddress() throws(ServerError) { _ = try ListenAddress(listen) }

    /// Whether the address can be reached from this machine only.
    package var isOnLoopback: Bool { (try? ListenAddress(listen))?.isOnLoopback ?? false }

    /// Throws if another process uses the address. Binds the address only for a moment.
    package func checkFree() throws(ServerError) { close(try ListenAddress(listen).bound()) }

    /// Claims the address and reads the TLS files before the process gives up root's rights,
    /// because it may be unable to do so afterwards. Throws if another process uses the address.
    package mutating func claimAddress() throws(ServerError) { claim = try Claim(self) }
}

/// What a server claims before it starts listening: its address and its certificate.
struct Claim: Sendable {
    let identity: TLSIdentity?
    private let address: ListenAddress
    private let listener: Int32

    init(_ settings: ServerSettings) throws(ServerError) {
        identity = try settings.tls.map(TLSIdentity.init)
        address = try ListenAddress(settings.listen)
        listener = try address.bound()
    }

    /// Starts listening on the socket and returns it.
    func open() throws(ServerError) -> Int32 {
        try address.listen(on: listener)
        return listener
    }
}

/// PEM files that contain a certificate chain and its key.
package struct TLSFiles: Sendable {
    package var certificate: String
    package var key: String

    package init(certificate: String, key: String) {
        self.certificate = certificate
        self.key = key
    }

    /// Returns when the certificate expires, in seconds since 1970. Throws unless a server could use both files.
    package func certificateEnds() throws(ServerError) -> Int64 { try TLSIdentity(self).ends }
}

/// How long a client may take, in milliseconds. Sending bytes slowly does not extend these times, and neither does
/// receiving them slowly.
package struct ServerTimeouts: Sendable {
    /// The time allowed for a request's head. For the first request, it starts with the connection; for later requests,
    /// after the first line.
    package var head: Int64 = 10_000
    /// The time allowed for a request's body, and for receiving the answer. A client that receives a large answer at
    /// the minimum rate gets as much time again.
    package var body: Int64 = 30_000
    /// The time allowed from an answer to the first line of the next request.
    package var idle: Int64 = 60_000

    package init() {}
}
