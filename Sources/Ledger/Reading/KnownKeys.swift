import Core
import Crypto
import JSON
import Synchronization
import Telemetry
import Wording

/// The keys recorded in a project's own stream. A row in `deed.keys` does not grant access by itself.
final class KnownKeys: Sendable {
    /// Rows without an event at the last check. They are remembered so that each is reported only once.
    private let forged = Mutex<Set<LiveKey>>([])
    private let log: Log

    init(log: Log) {
        self.log = log
    }

    /// The number of rows that have no event in the log.
    var forgedCount: Int { forged.withLock { $0.count } }

    /// Returns the keys that are live according to the projects' own states.
    func filter(_ keys: [LiveKey], by states: [ProjectID: ProjectState]) -> [LiveKey] {
        let (right, wrong) = keys.reduce(into: ([LiveKey](), Set<LiveKey>())) { parts, key in
            // The reader has already logged why the project is unreadable.
            guard let state = states[key.project] else { return }
            switch state.standing(of: key) {
            case .live(let limits): parts.0.append(key.limited(by: limits))
            // The key was revoked between the two reads, or someone changed its row by hand. In
            // either case, it no longer works.
            case .revoked: break
            case .unknown: parts.1.insert(key)
            }
        }
        let new = forged.withLock { forged in
            defer { forged = wrong }
            return wrong.subtracting(forged)
        }
        for key in new { alarm(key) }
        return right
    }

    private func alarm(_ key: LiveKey) {
        log.error(
            "key_forged",
            [
                "key": .string(key.key.text), "project": .string(key.project.text),
                "reason": .string(
                    Remedy.inspectRows.after(
                        "A row of deed.keys has no event behind it, so its key grants no access. Something other "
                            + "than Deed writes to the database.")),
            ])
    }
}

private enum Standing {
    case live(KeyLimits)
    case revoked, unknown
}

extension ProjectState {
    fileprivate func standing(of live: LiveKey) -> Standing {
        guard let key = key(live.key), key.created.role == live.role,
            Digest32(hex: key.created.digest) == Digest32(bytes: live.digest)
        else { return .unknown }
        return key.revokedAt == nil ? .live(key.limits) : .revoked
    }
}

extension LiveKey {
    /// Returns the key with the limits recorded in the log, regardless of the row.
    fileprivate func limited(by limits: KeyLimits) -> LiveKey {
        LiveKey(digest: digest, project: project, key: key, role: role, limits: limits)
    }
}
