import Core
import Synchronization

/// States of recently used streams. Each is the fold of its stream's first events, so one that is
/// behind is still right and only has to be brought up to date.
///
/// Two generations bound it without bookkeeping on each use: when the young one is full it becomes
/// the old one, and what is still in use comes back from there.
final class StateCache: Sendable {
    private struct Generations {
        var young: [Stream: StreamState] = [:]
        var old: [Stream: StreamState] = [:]
        var weight = 0
        /// The highest position that was seen of each shard.
        var heads = [Int64](repeating: 0, count: Shard.count)

        mutating func keep(_ state: StreamState, of stream: Stream, limit: Int) {
            let weightOfAny = 4
            if weight >= limit {
                old = young
                young = [:]
                weight = 0
            }
            young[stream] = state
            weight += weightOfAny + Int(state.version)
        }
    }
    private let generations = Mutex(Generations())
    /// In events, which is what states grow with.
    private let weightLimit: Int

    init(weightLimit: Int) {
        self.weightLimit = weightLimit
    }

    subscript(stream: Stream) -> StreamState? {
        generations.withLock { generations -> StreamState? in
            if let state = generations.young[stream] { return state }
            guard let state = generations.old[stream] else { return nil }
            generations.keep(state, of: stream, limit: weightLimit)
            return state
        }
    }

    /// Keeps the state unless a newer one is known.
    func keep(_ state: StreamState, of stream: Stream) {
        generations.withLock { generations in
            let known = generations.young[stream] ?? generations.old[stream]
            if let known, known.version >= state.version { return }
            generations.keep(state, of: stream, limit: weightLimit)
        }
    }

    /// The highest position that was seen of each shard: whoever asks the database from now on
    /// finds it there, or a later one.
    var seenHeads: [Int64] { generations.withLock { $0.heads } }

    /// Notes a shard's head. Returns false, and forgets every state, when it lies before what had
    /// been seen by the time the database was asked: then the database was put back to an earlier
    /// day under this process. What others have seen meanwhile proves nothing.
    func observe(head: Int64, of shard: Shard, askedAfter seenHeads: [Int64]) -> Bool {
        generations.withLock { generations in
            let index = Int(shard.number)
            if head < seenHeads[index] {
                generations = Generations()
                return false
            }
            generations.heads[index] = max(generations.heads[index], head)
            return true
        }
    }
}
