import CMicroHTTPD
import Synchronization
import Telemetry

/// What the connections of one server share.
final class Reception: Sendable {
    /// What the layer above decides about requests.
    struct Rules: Sendable {
        let bodyLimit: @Sendable (_ method: String, _ path: String) -> Int
        let refusal: @Sendable (ServerRefusal) -> Response
        let handler: @Sendable (borrowing Request) -> Answer
    }
    let rules: Rules
    let timeouts: ServerTimeouts
    let connections: ConnectionTable
    let pool: WorkerPool
    private let limit: Int
    /// Connections beyond the limit that are told so; any further one is only closed.
    private static let headroom = 64
    /// From the moment at which a connection is given to MHD, which starts to serve it later.
    private let admitted = Atomic(0)
    private let resuming = Atomic(0)
    private let bodyBytes = Atomic(0)
    private let bodyMemory: Int
    private let draining = Atomic(false)
    private let accepted: Counter
    private let refused: Refused

    private struct Refused: Sendable {
        let busy: Counter
        let tooManyConnections: Counter
        let bodyTooLarge: Counter
        let ambiguousLength: Counter
        let malformedTarget: Counter
        let draining: Counter
    }

    init(_ settings: ServerSettings, metrics: Metrics, rules: Rules) {
        self.rules = rules
        timeouts = settings.timeouts
        limit = max(1, settings.connections)
        bodyMemory = settings.bodyMemory
        connections = ConnectionTable(settings.timeouts)
        pool = WorkerPool(workers: settings.workers, queue: settings.queue)
        func refused(_ reason: String) -> Counter {
            metrics.counter(
                "deed_http_refused_total", "Requests that the server itself refused.",
                labels: [("reason", reason)])
        }
        self.refused = Refused(
            busy: refused("busy"), tooManyConnections: refused("too_many_connections"),
            bodyTooLarge: refused("body_too_large"),
            ambiguousLength: refused("ambiguous_length"),
            malformedTarget: refused("malformed_target"), draining: refused("draining"))
        accepted = metrics.counter(
            "deed_http_connections_total", "Connections that were accepted.")
        publish(metrics, workers: settings.workers)
    }

    private func publish(_ metrics: Metrics, workers: Int) {
        metrics.gauge("deed_http_connections", "Open connections.") { [connections] in
            Int64(connections.count)
        }
        metrics.gauge("deed_http_requests_in_flight", "Requests taken and not yet answered.") {
            [connections] in Int64(connections.requestsInFlight)
        }
        metrics.gauge("deed_http_body_bytes", "Memory that bodies of requests take.") {
            [weak self] in Int64(self?.bodyBytes.load(ordering: .relaxed) ?? 0)
        }
        metrics.gauge("deed_http_worker_queue", "Requests that wait for a worker.") { [pool] in
            Int64(pool.depth)
        }
        metrics.gauge("deed_http_workers_busy", "Workers at work.") { [pool] in Int64(pool.busy) }
        metrics.gauge("deed_http_workers", "Workers in all.") { Int64(workers) }
    }

    /// How many connections there may be at once, those included that are told that they are too many.
    var capacity: Int { limit + Reception.headroom }

    /// Whether there is room for one more connection; who gets it gives it back with `dismiss`.
    func admit() -> Bool {
        if admitted.add(1, ordering: .relaxed).newValue <= capacity { return true }
        dismiss()
        return false
    }

    func dismiss() { admitted.subtract(1, ordering: .relaxed) }

    /// A connection is there, maybe one too many.
    func accept(_ handle: OpaquePointer) -> Connection {
        accepted.add()
        let isExcess = connections.count >= limit
        let connection = Connection(handle, reception: self, isExcess: isExcess)
        connections.insert(connection)
        return connection
    }

    var isDraining: Bool { draining.load(ordering: .sequentiallyConsistent) }

    /// Sets memory aside for a body; false when all connections together hold as much as they may.
    func reserve(_ bytes: Int) -> Bool {
        if bodyBytes.add(bytes, ordering: .relaxed).newValue <= bodyMemory { return true }
        release(bytes)
        return false
    }

    func release(_ bytes: Int) {
        if bytes > 0 { bodyBytes.subtract(bytes, ordering: .relaxed) }
    }

    /// How many threads are about to resume a connection: the daemon must outlive that.
    var threadsResuming: Int { resuming.load(ordering: .sequentiallyConsistent) }

    /// Lets the daemon go on with a connection whose answer is there.
    func resume(_ handle: OpaquePointer) {
        resuming.add(1, ordering: .sequentiallyConsistent)
        MHD_resume_connection(handle)
        resuming.subtract(1, ordering: .sequentiallyConsistent)
    }

    /// Refuses requests from now on; `false` when that was so already.
    func startDraining() -> Bool {
        !draining.exchange(true, ordering: .sequentiallyConsistent)
    }

    func count(_ refusal: ServerRefusal) {
        switch refusal {
        case .busy: refused.busy.add()
        case .tooManyConnections: refused.tooManyConnections.add()
        case .bodyTooLarge: refused.bodyTooLarge.add()
        case .ambiguousLength: refused.ambiguousLength.add()
        case .malformedTarget: refused.malformedTarget.add()
        case .draining: refused.draining.add()
        }
    }
}
