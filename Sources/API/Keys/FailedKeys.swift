import Core
import HTTPServer
import JSON
import Service
import Synchronization
import Telemetry

/// Unknown keys: how often each address sends them. Writes about them to the log within limits.
final class FailedKeys: Sendable {
    /// How long the log stays silent about an address after a line about it.
    private static let silence: Int64 = 60_000
    /// How many addresses get their own line in that time; the others share one.
    private static let limit = 60

    private let throttle = Mutex(Throttle(each: .unknownKeys))
    private let told = Mutex(Told())
    private let refused: Counter
    private let log: Log
    private let now: @Sendable () -> Instant

    init(_ metrics: Metrics, _ log: Log, now: @escaping @Sendable () -> Instant) {
        refused = metrics.counter(
            "deed_keys_refused_total", "Calls with a key that no project has.")
        self.log = log
        self.now = now
    }

    /// Refuses an address that recently sent too many. Calls with remembered keys are not checked.
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

    /// What was logged, and what still has to be.
    private struct Told {
        private var each: [ClientAddress: (at: Instant, since: Int)] = [:]
        private var others = (addresses: Set<ClientAddress>(), count: 0, since: Instant?.none)
        /// How many of the other addresses are told apart.
        private static let otherLimit = 10_000

        /// The lines that are due after one more key from that address.
        mutating func lines(after client: ClientAddress, at now: Instant) -> [JSON] {
            var lines: [JSON] = []
            if each[client] == nil, each.count >= FailedKeys.limit { forget(at: now) }
            if each[client] != nil || each.count < FailedKeys.limit {
                if let line = line(about: client, at: now) { lines.append(line) }
            } else {
                note(other: client, at: now)
            }
            if let line = lineAboutOthers(at: now) { lines.append(line) }
            return lines
        }

        private mutating func line(about client: ClientAddress, at now: Instant) -> JSON? {
            let last = each[client]
            let count = (last?.since ?? 0) + 1
            if let last, isSilent(since: last.at, now) {
                each[client]?.since = count
                return nil
            }
            each[client] = (now, 0)
            return ["address": .string(client.description), "count": .integer(count)]
        }

        private mutating func note(other client: ClientAddress, at now: Instant) {
            others.since = others.since ?? now
            others.count += 1
            if others.addresses.count < Told.otherLimit { others.addresses.insert(client) }
        }

        private mutating func lineAboutOthers(at now: Instant) -> JSON? {
            guard let since = others.since, !isSilent(since: since, now) else { return nil }
            defer { others = ([], 0, nil) }
            return ["addresses": .integer(others.addresses.count), "count": .integer(others.count)]
        }

        /// Forgets addresses whose lines would be due; their unlogged counts go to the shared line.
        private mutating func forget(at now: Instant) {
            for (client, last) in each where !isSilent(since: last.at, now) {
                each[client] = nil
                guard last.since > 0 else { continue }
                note(other: client, at: now)
                others.count += last.since - 1
            }
        }

        private func isSilent(since last: Instant, _ now: Instant) -> Bool {
            now.milliseconds - last.milliseconds < FailedKeys.silence
        }
    }
}
