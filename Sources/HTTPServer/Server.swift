import CMicroHTTPD
import CReceive
import Glibc
package import Telemetry
import Threading

/// An HTTP server, which runs from its creation until it is drained.
package final class Server: Sendable {
    package let port: UInt16
    private let reception: Reception
    /// The library's daemon. The unsafe marker is needed only for the pointer's type: MHD allows calls for a daemon
    /// from any thread.
    nonisolated(unsafe) private let daemon: OpaquePointer
    private let listener: Int32
    /// The certificate for new connections; `nil` without TLS.
    private let identity: Monitor<TLSIdentity>?
    private let tls: TLSFiles?
    /// Whether the thread that accepts connections has ended.
    private let isDeaf = Monitor(false)

    /// The memory for each connection, in bytes. It suffices for the head of any legitimate request and keeps idle
    /// connections cheap. Each request overwrites all of it, so it must fit into a processor's nearest cache.
    static let memoryPerConnection = 12 << 10

    /// Starts the server. `admit` decides what to do with the body that a request's head announces. `refusal` answers
    /// requests that do not reach `handler`.
    package init(
        _ settings: ServerSettings, metrics: Metrics,
        admit: @escaping @Sendable (borrowing Request) -> Admission,
        refusal: @escaping @Sendable (ServerRefusal, _ path: String) -> Response,
        handler: @escaping @Sendable (borrowing Request) -> Answer
    ) throws(ServerError) {
        guard receive_is_interposed() else { throw .unguarded }
        receive_use(bytesWanted)
        let claim = if let claim = settings.claim { claim } else { try Claim(settings) }
        listener = try claim.open()
        port = HTTPServer.port(of: listener)
        reception = Reception(
            settings, metrics: metrics,
            rules: .init(admit: admit, refusal: refusal, handler: handler))
        identity = claim.identity.map { Monitor($0) }
        tls = settings.tls
        guard let daemon = Self.start(reception, settings, hasTLS: claim.identity != nil) else {
            close(listener)
            reception.stopPools()
            throw .outOfResources
        }
        self.daemon = daemon
        reception.connections.startSweeping()
        startAccepting()
    }

    /// Creates a server that accepts every body within a limit. `bodyLimit` returns the limit in bytes for a method and
    /// a raw path.
    package convenience init(
        _ settings: ServerSettings, metrics: Metrics,
        bodyLimit: @escaping @Sendable (_ method: String, _ path: String) -> Int,
        refusal: @escaping @Sendable (ServerRefusal, _ path: String) -> Response,
        handler: @escaping @Sendable (borrowing Request) -> Answer
    ) throws(ServerError) {
        try self.init(
            settings, metrics: metrics,
            admit: { .body(limit: bodyLimit($0.method, $0.path), .known) }, refusal: refusal,
            handler: handler)
    }

    private static func start(
        _ reception: Reception, _ settings: ServerSettings, hasTLS: Bool
    ) -> OpaquePointer? {
        let context = Unmanaged.passRetained(reception)
        var callbacks = httpd_callbacks(
            context: context.toOpaque(), receive: requestReceived,
            connection_changed: connectionChanged, request_line: requestLineReceived,
            request_completed: requestCompleted)
        let threads = max(1, settings.threads)
        var limits = httpd_limits(
            threads: UInt32(clamping: threads),
            // MHD divides this number among its threads. A thread that reaches its share while accepting deadlocks (in
            // MHD 0.9.75), so the limit must never be reached. The reception counts connections instead.
            connections: UInt32(clamping: 2 * threads * reception.capacity),
            memory_per_connection: memoryPerConnection)
        let daemon = httpd_start(&callbacks, &limits, hasTLS ? identity_giver() : nil)
        if daemon == nil { context.release() }
        return daemon
    }

    /// Accepts connections on a separate thread and passes them to MHD. MHD's own way to stop listening races with its
    /// threads and can crash the process.
    private func startAccepting() {
        nonisolated(unsafe) let daemon = daemon
        startThread("accept") { [listener, isDeaf, reception, identity] in
            acceptAll(from: listener, for: daemon, reception, identity)
            isDeaf.change { $0 = true }
        }
    }

    /// Reads the TLS files again for new connections. Existing connections keep their certificate.
    /// A failure changes nothing.
    package func renewIdentity() throws(ServerError) {
        guard let tls, let identity else { return }
        let new = try TLSIdentity(tls)
        identity.change(wake: .none) { $0 = new }
    }

    /// When the certificate for new connections expires, in seconds since 1970; `nil` without TLS.
    package var certificateEnds: Int64? { identity?.change(wake: .none) { $0.ends } }

    deinit { _ = drain(milliseconds: 1000) }

    /// Stops accepting requests, finishes those in progress, and then ends the server's threads.
    ///
    /// Returns `false` if the requests did not finish in time. The threads then keep running,
    /// because the process will soon exit. Only the first call has an effect.
    @discardableResult
    package func drain(milliseconds: Int64) -> Bool {
        guard reception.startDraining() else { return true }
        shutdown(listener, Int32(SHUT_RDWR))
        isDeaf.wait { $0 ? () : nil }
        close(listener)
        guard isQuiet(within: milliseconds) else { return false }
        // The workers stop first, because one of them may still be in the call that resumed the last connection.
        reception.stopPools()
        MHD_stop_daemon(daemon)
        reception.connections.stop()
        Unmanaged.passUnretained(reception).release()
        return true
    }

    /// Waits for requests in flight, and for requests that clients on idle connections may have
    /// just sent. Polls, so that requests need not signal their end.
    private func isQuiet(within milliseconds: Int64) -> Bool {
        let start = monotonicMilliseconds()
        while true {
            reception.connections.closeIdle()
            let elapsed = monotonicMilliseconds() - start
            let isDone =
                reception.connections.requestsInFlight == 0 && reception.threadsResuming == 0
            if isDone, reception.connections.count == 0 || elapsed >= min(100, milliseconds) {
                return true
            }
            guard elapsed < milliseconds else { return false }
            usleep(2000)
        }
    }
}

/// Limits the system's send buffer, which would otherwise grow to megabytes for clients that do not read.
private func bound(_ socket: Int32) {
    var bytes: Int32 = 64 << 10
    setsockopt(
        socket, SOL_SOCKET, SO_SNDBUF, &bytes, socklen_t(MemoryLayout.size(ofValue: bytes)))
}

/// Accepts connections until the listener is shut down.
private func acceptAll(
    from listener: Int32, for daemon: OpaquePointer, _ reception: Reception,
    _ identity: Monitor<TLSIdentity>?
) {
    while true {
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout.size(ofValue: address))
        let socket = withSocketAddress(&address) { accept(listener, $0, &length) }
        if socket >= 0 {
            _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
            bound(socket)
            let client = withSocketAddress(&address) { ClientAddress($0) }
            guard socket < receive_sockets, reception.admit(client) == .fine else {
                close(socket)
                continue
            }
            identity?.change(wake: .none) { $0 }.use(on: socket)
            // If MHD cannot take the socket, it closes the socket.
            let result = withSocketAddress(&address) {
                MHD_add_connection(daemon, socket, $0, length)
            }
            if result != .YES { reception.dismiss(client) }
            continue
        }
        switch errno {
        case EINVAL, EBADF: return
        case EMFILE, ENFILE, ENOBUFS, ENOMEM: usleep(20_000)
        default: continue
        }
    }
}
