internal import Synchronization

/// Remembers a bounded number of verified chains by a digest of what they were read from.
///
/// Only what holds at every instant is kept, so a remembered chain is as good as a fresh one: its
/// validity is still asked at the instant that each piece of evidence was signed.
package final class ChainCache: Sendable {
    private struct Entry {
        let chain: VerifiedChain
        var lastUse: UInt64
    }
    private struct State {
        var entries: [Digest32: Entry] = [:]
        var uses: UInt64 = 0
    }
    private let limit: Int
    private let state = Mutex(State())

    package init(limit: Int) {
        self.limit = limit
    }

    package var count: Int { state.withLock { $0.entries.count } }

    package func chain(for key: Digest32) -> VerifiedChain? {
        state.withLock { state in
            guard let index = state.entries.index(forKey: key) else { return nil }
            state.uses += 1
            state.entries.values[index].lastUse = state.uses
            return state.entries.values[index].chain
        }
    }

    /// Remembers a chain; the one that was unused the longest gives way when the cache is full.
    package func remember(_ chain: VerifiedChain, for key: Digest32) {
        state.withLock { state in
            if state.entries.count >= limit, state.entries[key] == nil {
                let oldest = state.entries.min { $0.value.lastUse < $1.value.lastUse }
                if let oldest { state.entries[oldest.key] = nil }
            }
            state.uses += 1
            state.entries[key] = Entry(chain: chain, lastUse: state.uses)
        }
    }
}
