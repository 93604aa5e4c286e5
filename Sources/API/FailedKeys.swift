import Core
import HTTPServer
import JSON
import Service
import Synchronization
import Telemetry

/// Keys that no project has: how often they come from where, in the log and within bounds.
final class FailedKeys: Sendable {
    /// So long the log is silent about an address after a line about it.
    private static let silence: Int64 = 60_000
    /// Of how many addresses the log's silence is remembered.
    private static let limit = 1000

    private let throttle = Throttle(each: .init(50, perSecond: 5))
    private let told = Mutex<[ClientAddress: (at: Instant, since: Int)]>([:])
    private let refused: Counter
    private let log: Log
    private let now: @Sendable () -> Instant

    init(_ operations: Operations, now: @escaping @Sendable () -> Instant) {
        refused = operations.metrics.counter(
            "deed_keys_refused_total", "Calls with a key that no project has.")
        log = operations.log
        self.now = now
    }

    /// Refuses an address from where too many came lately. Keys that memory knows are not asked.
    func requirePatience(with client: ClientAddress?) throws(Problem) {
        guard let client, !throttle.allows(client.description, at: now()) else { return }
        throw .throttled("Too many unknown keys came from your address; check the key.")
    }

    func note(from client: ClientAddress?) {
        refused.add()
        guard let client else { return }
        let now = now()
        _ = throttle.take(client.description, at: now)
        guard let count = countToTell(of: client, at: now) else { return }
        log.warning(
            "key_refused", ["address": .string(client.description), "count": .integer(count)])
    }

    /// How many came since the last line about that address, where it is time for another.
    private func countToTell(of client: ClientAddress, at now: Instant) -> Int? {
        told.withLock { told in
            let last = told[client]
            let count = (last?.since ?? 0) + 1
            if let last, now.milliseconds - last.at.milliseconds < FailedKeys.silence {
                told[client]?.since = count
                return nil
            }
            if told.count >= FailedKeys.limit { told = [:] }
            told[client] = (now, 0)
            return count
        }
    }
}
