import Core
import Crypto
import JSON
import Synchronization
import Telemetry
import Threading

/// The keys that a project's own stream tells of. A row of `deed.keys` alone opens nothing.
final class KnownKeys: Sendable {
    private struct State {
        /// Those that were found in the log; each is looked for again when it comes back after it was
        /// gone.
        var known: Set<LiveKey> = []
        /// Those of which the log knows nothing, and when it was asked about them last.
        var forged: [LiveKey: Int64] = [:]
    }
    private static let pauseBetweenLooks: Int64 = 60_000
    private let state = Mutex(State())
    private let log: Log

    init(log: Log) {
        self.log = log
    }

    /// How many rows there are of which the log knows nothing.
    var forgedCount: Int { state.withLock { $0.forged.count } }

    /// Those of the keys that the log knows. `project` reads a project's state.
    func filter(
        _ keys: [LiveKey], _ project: (ProjectID) throws(Fault) -> ProjectState
    ) throws(Fault) -> [LiveKey] {
        let (known, before) = state.withLock { ($0.known, $0.forged) }
        let now = monotonicMilliseconds()
        var states: [ProjectID: ProjectState] = [:]
        var right: [LiveKey] = []
        var forged: [LiveKey: Int64] = [:]
        for key in keys {
            if known.contains(key) {
                right.append(key)
                continue
            }
            if let lookedAt = before[key], now - lookedAt < KnownKeys.pauseBetweenLooks {
                forged[key] = lookedAt
                continue
            }
            if states[key.project] == nil { states[key.project] = try project(key.project) }
            if states[key.project]?.tells(of: key) == true {
                right.append(key)
            } else {
                forged[key] = now
            }
        }
        state.withLock { ($0.known, $0.forged) = (Set(right), forged) }
        for key in forged.keys where before[key] == nil { alarm(key) }
        return right
    }

    private func alarm(_ key: LiveKey) {
        log.error(
            "key_forged",
            [
                "key": .string(key.key.text), "project": .string(key.project.text),
                "reason": .string(
                    "A row of deed.keys says what no event tells: it opens nothing. Something other "
                        + "than Deed writes to the database; run deed audit --projections."),
            ])
    }
}

extension ProjectState {
    fileprivate func tells(of live: LiveKey) -> Bool {
        guard let key = key(live.key), key.revokedAt == nil else { return false }
        return key.created.role == live.role
            && Digest32(hex: key.created.digest) == Digest32(bytes: live.digest)
    }
}
