import Synchronization
import Threading

/// The open connections, and the clock for their deadlines.
///
/// MHD's own timeout restarts with every byte, so it would let a client hold a connection forever.
final class ConnectionTable: Sendable {
    /// Connections by socket. The number of a socket is reused only after `remove`.
    private let open = Monitor<[Int32: Connection]>([:])
    private let total = Atomic(0)
    /// The clock. The sweeper advances it, which saves each request a system call. A sweep advances the
    /// clock by at most one interval, so that clients are not cut off early when the machine falls behind.
    private let clock = Atomic(monotonicMilliseconds())
    private let isStopped = Monitor(false)
    private let interval: Int64

    init(_ timeouts: ServerTimeouts) {
        let shortest = min(timeouts.head, timeouts.body, timeouts.idle)
        interval = min(max(shortest / 8, 5), 500)
    }

    /// Returns the deadline of a wait that begins now. The clock may lag by one interval.
    func deadline(after milliseconds: Int64) -> Int64 {
        clock.load(ordering: .relaxed) + interval + milliseconds
    }

    var requestsInFlight: Int {
        open.change(wake: .none) { $0.values.count { $0.hasRequest } }
    }

    var count: Int { total.load(ordering: .relaxed) }

    /// Counts a connection before the capacity check, so that two simultaneous connections both count. Returns the
    /// total.
    func enter() -> Int { total.add(1, ordering: .relaxed).newValue }

    /// Adds a connection that `enter` has counted.
    func insert(_ connection: Connection) {
        open.change(wake: .none) { $0[connection.socket] = connection }
    }

    func remove(_ connection: Connection) {
        open.change(wake: .none) { $0[connection.socket] = nil }
        total.subtract(1, ordering: .relaxed)
    }

    /// Makes room for a new connection. Closes up to `count` connections from the network with the
    /// most strangers, provided that the new connection's network has fewer. The connections that
    /// have been idle longest are closed first, then those with slow requests. The search goes
    /// through all connections, so it closes several at once. Returns `false` if it closed none.
    func makeRoom(for newcomer: ClientAddress, count: Int) -> Bool {
        open.change(wake: .none) { open in
            let strangers = Dictionary(grouping: open.values.lazy.filter(\.isStranger)) {
                $0.peer.network
            }
            // The new connection counts as part of its network.
            let own = (strangers[newcomer.network]?.count ?? 0) + 1
            let most = strangers.max { $0.value.count < $1.value.count }?.value ?? []
            guard most.count > own else { return false }
            let waiting = most.compactMap(\.waiting).sorted { $0.order < $1.order }
            return waiting.prefix(min(count, most.count - own)).count { $0.end() } > 0
        }
    }

    func closeIdle() {
        open.change(wake: .none) { open in
            for connection in open.values { connection.closeIfIdle() }
        }
    }

    /// Starts a thread that closes overdue connections until `stop`.
    func startSweeping() {
        startThread("sweeper") { [self] in
            var last = monotonicMilliseconds()
            while isStopped.wait(milliseconds: interval, for: { $0 ? true : nil }) == nil {
                let now = monotonicMilliseconds()
                sweep(after: min(now - last, interval))
                last = now
            }
        }
    }

    func stop() {
        isStopped.change { $0 = true }
    }

    private func sweep(after milliseconds: Int64) {
        let time = clock.add(milliseconds, ordering: .relaxed).newValue
        open.change(wake: .none) { open in
            for connection in open.values { connection.sweep(at: time) }
        }
    }
}
