import Core
import HTTPServer
import Service
import Synchronization
import Telemetry

/// Counts unknown keys by the address that sent them. Only a limited number of them are logged.
final class FailedKeys: Sendable {
    private let throttle = Mutex(Throttle(each: .unknownKeys))
    private let told = Mutex(ToldAddresses())
    private let refused: Counter
    private let log: Log
    private let now: @Sendable () -> Instant

    init(_ metrics: Metrics, _ log: Log, now: @escaping @Sendable () -> Instant) {
        refused = metrics.counter(
            "deed_keys_refused_total", "Calls with a key that belongs to no project.")
        self.log = log
        self.now = now
    }

    /// Refuses an address that has recently sent too many unknown keys. Known keys in memory are exempt.
    func requirePatience(with client: ClientAddress?) throws(Problem) {
        guard let client, !throttle.withLock({ $0.allows(client.description, at: now()) })
        else { return }
        throw .throttled("Too many unknown keys came from your address; check the key.")
    }

    func note(from client: ClientAddress?) {
        refused.add()
        guard let client else { return }
        let now = now()
        _ = throttle.withLock { $0.take(client.description, at: now) }
        let lines = told.withLock { $0.lines(after: client, at: now) }
        for line in lines { log.warning("key_refused", line) }
    }
}
