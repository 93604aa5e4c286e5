import Core
import HTTPServer
import JSON
import Service
import Synchronization
import Telemetry

/// Keys that no project has: how often they come from where, in the log and within bounds.
final class FailedKeys: Sendable {
    /// How long the log is silent about an address after a line about it.
    private static let silence: Int64 = 60_000
    /// Of how many addresses there is a line in that time; the others share one.
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

    /// Refuses an address from where too many came lately. Keys that memory knows are not asked.
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

    /// What the log has, and what it does not have yet.
    private struct Told {
        private var each: [ClientAddress: (at: Instant, since: Int)] = [:]
        private var others = (addresses: Set<ClientAddress>(), count: 0, since: Instant?.none)
        /// Of how many others it is known that they are different ones.
        private static let otherLimit = 10_000

        /// The lines that are due when one more key came from there.
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

        /// Leaves out those about whom a line would be due; what was not told of them counts to the others.
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
