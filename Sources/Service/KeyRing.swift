package import Core
import Synchronization

/// The keys that open projects, looked up by digest in memory.
///
/// A key that is not there may have been made a moment ago: the ring is read anew, but only so many
/// times a second, so that unknown keys cannot be used to load the database.
package final class KeyRing: Sendable {
    private struct State {
        var keys: [[UInt8]: LiveKey] = [:]
        /// Those of them that were used since the ring was read, as they were presented: who is known need not
        /// be digested each time.
        var used: [String: UsedKey] = [:]
    }
    private let state = Mutex(State())
    /// How often the ring was read.
    fileprivate let edition = Atomic(0)
    private let refreshing = Refreshing()
    /// Held while the keys are read: of two reads the later one is kept.
    private let reading = Mutex(())
    private let ports: Ports

    package init(_ ports: Ports) {
        self.ports = ports
    }

    /// By what a key is known.
    package func digest(of text: String) -> [UInt8] { ports.secrets.digest(Array(text.utf8)) }

    /// The key with this digest, after a look into the database when it is not known in memory.
    package func find(_ digest: [UInt8]) throws(Fault) -> LiveKey? {
        try refreshing.find(at: ports.machineClock(), { known(digest) }) { () throws(Fault) in
            try reload()
        }
    }

    /// The key that was used, if it still is one.
    package func find(_ used: UsedKey) throws(Fault) -> LiveKey? {
        used.isCurrent(in: self) ? used.key : try find(used.key.digest)
    }

    /// How many ways to present keys are remembered.
    private static let usedLimit = 10_000

    /// The key that was `presented` like that before.
    package func remembered(as presented: String) -> UsedKey? {
        state.withLock { $0.used[presented] }
    }

    /// The key with this digest that is `presented` like that, as far as it is known in memory.
    package func remember(_ digest: [UInt8], as presented: String) -> UsedKey? {
        state.withLock { state in
            guard let key = state.keys[digest] else { return nil }
            if state.used.count >= KeyRing.usedLimit { state.used = [:] }
            let used = UsedKey(
                presented: Array(presented.utf8), key: key,
                edition: edition.load(ordering: .relaxed))
            state.used[presented] = used
            return used
        }
    }

    private func known(_ digest: [UInt8]) -> LiveKey? {
        state.withLock { $0.keys[digest] }
    }

    /// Reads every live key.
    package func reload() throws(Fault) {
        try reading.withLock { _ throws(Fault) in
            let live = try ports.directory.keys()
            let keys = Dictionary(live.map { ($0.digest, $0) }) { first, _ in first }
            state.withLock { state in
                state.keys = keys
                state.used = [:]
                edition.add(1, ordering: .releasing)
            }
        }
    }
}

/// A key as somebody presented it. A class, so that handing it on counts one reference.
package final class UsedKey: Sendable {
    package let presented: [UInt8]
    package let key: LiveKey
    private let edition: Int

    fileprivate init(presented: [UInt8], key: LiveKey, edition: Int) {
        self.presented = presented
        self.key = key
        self.edition = edition
    }

    /// Whether the ring was not read anew since.
    package func isCurrent(in ring: KeyRing) -> Bool {
        ring.edition.load(ordering: .acquiring) == edition
    }
}
