import Core
import HTTPServer
import JSON

/// Addresses whose calls were refused, and the refusals that are still to be logged.
struct ToldAddresses: Sendable {
    /// The minimum number of milliseconds between two log lines about the same address.
    private static let silence: Int64 = 60_000
    /// The maximum number of addresses with a separate log line in that time. The others share a line.
    private static let limit = 60

    private var each: [ClientAddress: (at: Instant, since: Int)] = [:]
    private var others = (addresses: Set<ClientAddress>(), count: 0, since: Instant?.none)
    /// The maximum number of other addresses that are counted separately.
    private static let otherLimit = 10_000

    /// Counts a refusal of this address and returns the log lines that are due.
    mutating func lines(after client: ClientAddress, at now: Instant) -> [JSON] {
        var lines: [JSON] = []
        if each[client] == nil, each.count >= ToldAddresses.limit { forget(at: now) }
        if each[client] != nil || each.count < ToldAddresses.limit {
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
        if others.addresses.count < ToldAddresses.otherLimit { others.addresses.insert(client) }
    }

    private mutating func lineAboutOthers(at now: Instant) -> JSON? {
        guard let since = others.since, !isSilent(since: since, now) else { return nil }
        defer { others = ([], 0, nil) }
        return ["addresses": .integer(others.addresses.count), "count": .integer(others.count)]
    }

    /// Forgets addresses whose log lines are due. Their refusals that were not logged are counted
    /// in the shared line.
    private mutating func forget(at now: Instant) {
        for (client, last) in each where !isSilent(since: last.at, now) {
            each[client] = nil
            guard last.since > 0 else { continue }
            note(other: client, at: now)
            others.count += last.since - 1
        }
    }

    private func isSilent(since last: Instant, _ now: Instant) -> Bool {
        now.milliseconds - last.milliseconds < ToldAddresses.silence
    }
}
