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
        /// In bytes, roughly: what the young states take.
        var weight = 0
        /// The highest position that was seen of each shard.
        var heads = [Int64](repeating: 0, count: Shard.count)

        mutating func keep(_ state: StreamState, of stream: Stream, limit: Int) {
            if weight >= limit {
                old = young
                young = [:]
                weight = 0
            }
            let replaced = young.updateValue(state, forKey: stream)
            weight += state.weight - (replaced?.weight ?? 0)
        }
    }
    private let generations = Mutex(Generations())
    private let weightLimit: Int

    /// A cache of at most so many bytes, roughly.
    init(bytes: Int) {
        weightLimit = bytes / 2
    }

    /// Forgets every state, and how long the log was.
    func forget() {
        generations.withLock { $0 = Generations() }
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

extension StreamState {
    /// The bytes that it takes in memory, roughly: states grow with their events.
    fileprivate var weight: Int { 500 + 300 * Int(version) }
}
