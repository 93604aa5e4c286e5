import CMicroHTTPD
import Synchronization
import Telemetry
import Threading

/// The state that all connections of a server share.
final class Reception: Sendable {
    /// The decisions about requests that are left to the layer above.
    struct Rules: Sendable {
        let admit: @Sendable (borrowing Request) -> Admission
        let refusal: @Sendable (ServerRefusal, _ path: String) -> Response
        let handler: @Sendable (borrowing Request) -> Answer
    }
    let rules: Rules
    let timeouts: ServerTimeouts
    let isEncrypted: Bool
    let stamp: (@Sendable () -> Header)?
    let connections: ConnectionTable
    private let pools: (known: WorkerPool, proven: WorkerPool, strangers: WorkerPool)
    private let limit: Int
    private let limitPerAddress: Int
    let proxies: TrustedProxies
    private let shares = Mutex(ConnectionShares())
    /// The memory that each stranger's request bodies use.
    private let strangers = Mutex(Shares<ClientAddress>())
    private let strangersMemory: Int
    /// The number of requests from each stranger that wait for a worker.
    private let turns = Mutex(Shares<ClientAddress>())
    private let turnsPerAddress: Int
    /// The number of connections above the limit that get an answer. Up to the same number again may be open while
    /// other connections end to make room for them. Further connections are closed without an answer.
    private static let headroom = 64
    /// When each network last caused a search that found no connections to close. A search takes a long time, and a
    /// network that holds all connections would otherwise cause one with each new connection.
    private let vainLooks = Mutex<[ClientNetwork: Int64]>([:])
    /// The minimum pause after a search that found no connections to close, in milliseconds.
    private static let pauseAfterVainLook: Int64 = 50
    private static let vainLookLimit = 1024
    /// The number of connections handed to MHD, including connections that it does not serve yet.
    private let admitted = Atomic(0)
    private let resuming = Atomic(0)
    private let bodyBytes = Atomic(0)
    private let bodyMemory: Int
    private let draining = Atomic(false)
    private let accepted: Counter
    private let refused: Refused

    private struct Refused: Sendable {
        let busy: Counter
        let throttled: Counter
        let tooManyConnections: Counter
        let bodyTooLarge: Counter
        let unframed: Counter
        let malformedTarget: Counter
        let draining: Counter
    }

    init(_ settings: ServerSettings, metrics: Metrics, rules: Rules) {
        self.rules = rules
        timeouts = settings.timeouts
        isEncrypted = settings.tls != nil
        stamp = settings.stamp
        limit = max(1, settings.connections)
        limitPerAddress = max(1, settings.connectionsPerAddress)
        proxies = settings.trustedProxies
        strangersMemory = settings.strangersMemory
        turnsPerAddress = max(1, settings.strangersQueue / 8)
        bodyMemory = settings.bodyMemory
        connections = ConnectionTable(settings.timeouts)
        pools = (
            known: WorkerPool(workers: settings.workers, queue: settings.queue),
            proven: WorkerPool(
                "proven", workers: min(8, settings.workers), queue: settings.queue),
            strangers: WorkerPool(
                "stranger", workers: settings.strangersWorkers, queue: settings.strangersQueue,
                urgency: .last)
        )
        func refused(_ reason: String) -> Counter {
            metrics.counter(
                "deed_http_refused_total", "Requests that the server itself refused.",
                labels: [("reason", reason)])
        }
        self.refused = Refused(
            busy: refused("busy"), throttled: refused("throttled"),
            tooManyConnections: refused("too_many_connections"),
            bodyTooLarge: refused("body_too_large"),
            unframed: refused("unframed"),
            malformedTarget: refused("malformed_target"), draining: refused("draining"))
        accepted = metrics.counter(
            "deed_http_connections_total", "Accepted connections.")
        publish(metrics, workers: settings.workers)
    }

    private func publish(_ metrics: Metrics, workers: Int) {
        metrics.gauge("deed_http_connections", "Open connections.") { [connections] in
            Int64(connections.count)
        }
        metrics.gauge(
            "deed_http_requests_in_flight", "Requests that have arrived and are not yet answered."
        ) { [connections] in Int64(connections.requestsInFlight) }
        metrics.gauge("deed_http_body_bytes", "Memory used by request bodies.") {
            [weak self] in Int64(self?.bodyBytes.load(ordering: .relaxed) ?? 0)
        }
        let pool = pools.known
        metrics.gauge("deed_http_worker_queue", "Requests that are waiting for a worker.") {
            [pool] in Int64(pool.depth)
        }
        metrics.gauge("deed_http_workers_busy", "Busy workers.") { [pool] in Int64(pool.busy) }
        metrics.gauge(
            "deed_http_keyless_queue", "Requests without a known key that are waiting for a worker."
        ) { [pools] in Int64(pools.proven.depth + pools.strangers.depth) }
        metrics.gauge("deed_http_workers", "Workers in all.") { Int64(workers) }
    }

    /// The maximum number of open connections, including connections that only get an error or replace others.
    var capacity: Int { limit + 2 * Reception.headroom }

    func pool(_ room: Room) -> WorkerPool {
        switch room {
        case .known: pools.known
        case .proven: pools.proven
        case .strangers: pools.strangers
        }
    }

    func stopPools() {
        for room in Room.allCases { pool(room).stop() }
    }

    /// Decides whether to accept another connection from that address. The caller must later release an accepted
    /// connection with `dismiss`.
    func admit(_ client: ClientAddress) -> ConnectionShares.Standing {
        let count = admitted.add(1, ordering: .relaxed).newValue
        // Even if the places for error answers are full, another connection can end to make room for a new client.
        guard count <= limit + Reception.headroom || count <= capacity && makeRoom(for: client)
        else {
            admitted.subtract(1, ordering: .relaxed)
            return .closed
        }
        if proxies.contains(client) { return .fine }
        let standing = shares.withLock { $0.admit(client, limit: limitPerAddress) }
        if standing == .closed { admitted.subtract(1, ordering: .relaxed) }
        return standing
    }

    func dismiss(_ client: ClientAddress) {
        admitted.subtract(1, ordering: .relaxed)
        if !proxies.contains(client) { shares.withLock { $0.dismiss(client) } }
    }

    /// Registers a new connection, even if it is above the limit.
    func accept(_ handle: OpaquePointer) -> Connection {
        accepted.add()
        let count = connections.enter()
        let peer = httpd_peer(handle).map { ClientAddress($0) } ?? ClientAddress.unknown
        let isExcess =
            !proxies.contains(peer)
            && shares.withLock { $0.isExcess(peer, limit: limitPerAddress) }
            || count > limit && !makeRoom(for: peer)
        let connection = Connection(
            handle, Origin(peer, proxies), reception: self, isExcess: isExcess)
        connections.insert(connection)
        return connection
    }

    /// Closes connections from the networks with the most connections, so that a few networks cannot lock out everyone
    /// else.
    private func makeRoom(for newcomer: ClientAddress) -> Bool {
        let (network, now) = (newcomer.network, monotonicMilliseconds())
        let isPausing = vainLooks.withLock { looks in
            looks[network].map { now - $0 < Reception.pauseAfterVainLook } ?? false
        }
        if isPausing { return false }
        if connections.makeRoom(for: newcomer, count: max(1, limit / 256)) { return true }
        vainLooks.withLock { looks in
            if looks.count >= Reception.vainLookLimit { looks = [:] }
            looks[network] = now
        }
        return false
    }

    /// Queues the work for the room's workers. Returns `false` if the queue is full, either for this stranger or for
    /// everyone.
    func submit(
        in room: Room, of stranger: @autoclosure () -> ClientAddress?, prepare: () -> Void,
        _ work: @escaping WorkerPool.Work
    ) -> Bool {
        guard room == .strangers, let stranger = stranger() else {
            return pool(room).submit(prepare: prepare, work)
        }
        guard turns.withLock({ $0.take(for: stranger, limit: turnsPerAddress) }) else {
            return false
        }
        let isQueued = pool(room).submit(prepare: prepare) { [self] in
            turns.withLock { $0.giveBack(of: stranger) }
            work()
        }
        if !isQueued { turns.withLock { $0.giveBack(of: stranger) } }
        return isQueued
    }

    var isDraining: Bool { draining.load(ordering: .sequentiallyConsistent) }

    /// Reserves memory for a body. Returns false if this would exceed the limit for all bodies together.
    func reserve(_ bytes: Int) -> Bool {
        if bodyBytes.add(bytes, ordering: .relaxed).newValue <= bodyMemory { return true }
        release(bytes)
        return false
    }

    /// Reserves memory for a stranger's request body. One address can use up to an eighth of the total.
    func reserve(_ bytes: Int, for client: ClientAddress) -> Bool {
        strangers.withLock {
            $0.take(bytes, for: client, limit: strangersMemory / 8, of: strangersMemory)
        }
    }

    func release(_ bytes: Int, of client: ClientAddress) {
        if bytes > 0 { strangers.withLock { $0.giveBack(bytes, of: client) } }
    }

    func release(_ bytes: Int) {
        if bytes > 0 { bodyBytes.subtract(bytes, ordering: .relaxed) }
    }

    /// The number of threads that will soon resume a connection. The daemon must outlive these calls.
    var threadsResuming: Int { resuming.load(ordering: .sequentiallyConsistent) }

    /// Lets the daemon continue with a connection once its answer is complete.
    func resume(_ handle: OpaquePointer) {
        resuming.add(1, ordering: .sequentiallyConsistent)
        MHD_resume_connection(handle)
        resuming.subtract(1, ordering: .sequentiallyConsistent)
    }

    /// Starts to refuse requests. Returns `false` if the drain has already begun.
    func startDraining() -> Bool {
        !draining.exchange(true, ordering: .sequentiallyConsistent)
    }

    func count(_ refusal: ServerRefusal) {
        switch refusal {
        case .busy: refused.busy.add()
        case .throttled: refused.throttled.add()
        case .tooManyConnections: refused.tooManyConnections.add()
        case .bodyTooLarge: refused.bodyTooLarge.add()
        case .unframed: refused.unframed.add()
        case .malformedTarget: refused.malformedTarget.add()
        case .draining: refused.draining.add()
        }
    }
}
