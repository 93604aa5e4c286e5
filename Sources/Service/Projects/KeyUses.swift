package import Core
import Synchronization

/// Remembers when keys were last used. A key's use is written at most once an hour.
package final class KeyUses: Sendable {
    private struct Name: Hashable {
        let project: ProjectID
        let key: KeyID
    }
    private struct State {
        /// The last recorded use of each key, for live keys and those revoked recently.
        var noted: [Name: Instant] = [:]
        /// Uses that have not been written yet.
        var due: [Name: KeyUse] = [:]
    }
    private let state = Mutex(State())
    private let using: any KeyUsing

    init(_ using: any KeyUsing) {
        self.using = using
    }

    package func note(_ key: LiveKey, at now: Instant) {
        if key.limits.hasExpired(at: now) { return }
        let use = KeyUse(of: key, at: now)
        let name = Name(project: key.project, key: key.key)
        state.withLock { state in
            if let noted = state.noted[name], noted >= use.at { return }
            state.noted[name] = use.at
            state.due[name] = use
        }
    }

    /// Writes new uses. If this fails, the next call writes them.
    package func write() throws(Fault) {
        let due = state.withLock { state in
            defer { state.due = [:] }
            return state.due
        }
        if due.isEmpty { return }
        do throws(Fault) {
            try using.note(Array(due.values))
        } catch {
            state.withLock { $0.due.merge(due) { new, _ in new } }
            throw error
        }
        let old = due.values.map(\.at).max()?.advanced(byMilliseconds: -KeyUse.grain)
        guard let old else { return }
        state.withLock { $0.noted = $0.noted.filter { $0.value >= old } }
    }
}
