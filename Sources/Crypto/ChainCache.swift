internal import Threading

/// Remembers a bounded number of verified chains by their source.
///
/// Only facts that hold at every instant are kept, so a remembered chain is as good as a fresh one.
/// Its validity is still checked at the time of each signature.
package final class ChainCache<Key: Equatable & Sendable>: Sendable {
    package struct Entry: Sendable {
        package let key: Key
        package let chain: VerifiedChain
    }
    private struct State {
        /// The most recently used entry comes last.
        var entries: [Entry] = []
    }
    private let limit: Int
    private let state = Monitor(State())

    package init(limit: Int) {
        self.limit = limit
    }

    package var count: Int { state.change(wake: .none) { $0.entries.count } }

    /// The remembered chain whose key matches.
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

    /// Remembers a chain. In a full cache it replaces the least recently used one.
    package func remember(_ chain: VerifiedChain, for key: Key) {
        state.change(wake: .none) { state in
            // Two threads may have verified one chain at the same time.
            if state.entries.contains(where: { $0.key == key }) { return }
            if state.entries.count >= limit { state.entries.removeFirst() }
            state.entries.append(Entry(key: key, chain: chain))
        }
    }
}
