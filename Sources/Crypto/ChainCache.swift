internal import Threading

/// Remembers a bounded number of verified chains by what they were read from.
///
/// Only what holds at every instant is kept, so a remembered chain is as good as a fresh one: its
/// validity is still asked at the instant that each piece of evidence was signed.
package final class ChainCache<Key: Equatable & Sendable>: Sendable {
    package struct Entry: Sendable {
        package let key: Key
        package let chain: VerifiedChain
    }
    private struct State {
        /// The entry that was used last stands last.
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

    /// Remembers a chain; the one that was unused the longest gives way when the cache is full.
    package func remember(_ chain: VerifiedChain, for key: Key) {
        state.change(wake: .none) { state in
            // Two threads may have followed one chain at the same time.
            if state.entries.contains(where: { $0.key == key }) { return }
            if state.entries.count >= limit { state.entries.removeFirst() }
            state.entries.append(Entry(key: key, chain: chain))
        }
    }
}
