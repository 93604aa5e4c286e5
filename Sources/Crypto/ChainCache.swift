internal import Threading

/// A cache for a limited number of verified chains, by their source.
///
/// It stores only facts that do not depend on time, so a cached chain is as good as a new one. Each signature
/// still requires a check of whether the chain was valid at the time of signing.
package final class ChainCache<Key: Equatable & Sendable>: Sendable {
    package struct Entry: Sendable {
        package let key: Key
        package let chain: VerifiedChain
    }
    private struct State {
        /// The entries, with the most recently used one last.
        var entries: [Entry] = []
    }
    private let limit: Int
    private let state = Monitor(State())

    package init(limit: Int) {
        self.limit = limit
    }

    package var count: Int { state.change(wake: .none) { $0.entries.count } }

    /// Returns the cached chain whose key matches.
    package func entry(where matches: (Key) -> Bool) -> Entry? {
        state.change(wake: .none) { state in
            guard let index = state.entries.lastIndex(where: { matches($0.key) }) else {
                return nil
            }
            let entry = state.entries[index]
            if index != state.entries.endIndex - 1 {
                state.entries.remove(at: index)
                state.entries.append(entry)
            }
            return entry
        }
    }

    /// Caches a chain. In a full cache, the chain replaces the least recently used one.
    package func remember(_ chain: VerifiedChain, for key: Key) {
        state.change(wake: .none) { state in
            // Two threads may have verified the same chain at the same time.
            if state.entries.contains(where: { $0.key == key }) { return }
            if state.entries.count >= limit { state.entries.removeFirst() }
            state.entries.append(Entry(key: key, chain: chain))
        }
    }
}
