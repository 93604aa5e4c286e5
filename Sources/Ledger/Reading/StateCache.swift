import Core
import Synchronization

/// Folds of recently used streams. Each is of its stream's first events, so one that is
/// behind is still right and only has to be brought up to date.
///
/// Two generations bound it without bookkeeping on each use: when the young one is full it becomes
/// the old one, and what is still in use comes back from there.
final class StateCache: Sendable {
    /// What is known of the shards' heads when nothing was seen.
    static let noHeads = [Int64](repeating: 0, count: Shard.count)

    private struct Generations {
        var young: [Stream: Fold] = [:]
        var old: [Stream: Fold] = [:]
        /// In bytes, roughly: what the young folds take.
        var weight = 0
        /// The highest position that was seen of each shard.
        var heads = StateCache.noHeads

        mutating func find(_ stream: Stream, limit: Int) -> Fold? {
            if let fold = young[stream] { return fold }
            guard let fold = old[stream] else { return nil }
            keep(fold, of: stream, limit: limit)
            return fold
        }

        mutating func keep(_ fold: Fold, of stream: Stream, limit: Int) {
            if weight >= limit {
                old = young
                young = [:]
                weight = 0
            }
            let replaced = young.updateValue(fold, forKey: stream)
            weight += fold.weight - (replaced?.weight ?? 0)
        }
    }
    private let generations = Mutex(Generations())
    private let weightLimit: Int

    /// A cache of at most that many bytes, roughly.
    init(bytes: Int) {
        weightLimit = bytes / 2
    }

    /// Forgets every fold, and how long the log was.
    func forget() {
        generations.withLock { $0 = Generations() }
    }

    subscript(stream: Stream) -> Fold? {
        generations.withLock { $0.find(stream, limit: weightLimit) }
    }

    /// What is known of each stream, and `seenHeads`.
    func folds(of streams: [Stream]) -> (folds: [Fold], seenHeads: [Int64]) {
        generations.withLock { generations in
            let folds = streams.map { stream in
                generations.find(stream, limit: weightLimit) ?? Fold(emptyFor: stream)
            }
            return (folds, generations.heads)
        }
    }

    /// Keeps the fold unless a newer one is known.
    func keep(_ fold: Fold, of stream: Stream) {
        generations.withLock { generations in
            let known = generations.young[stream] ?? generations.old[stream]
            if let known, known.version >= fold.version { return }
            generations.keep(fold, of: stream, limit: weightLimit)
        }
    }

    /// The highest position that was seen of each shard: a caller who asks the database from now on
    /// finds it there, or a later one.
    var seenHeads: [Int64] { generations.withLock { $0.heads } }

    /// Notes how far this process itself has taken the shards.
    func observe(_ heads: [Shard: ShardHead]) {
        generations.withLock { generations in
            for (shard, head) in heads {
                let index = Int(shard.number)
                generations.heads[index] = max(generations.heads[index], head.sequence)
            }
        }
    }

    /// Notes where shards end. Throws, and forgets every fold, when one ends before what had been seen
    /// by the time the database was asked: then the database was put back to an earlier day under this
    /// process. What others have seen in between proves nothing.
    func observe(
        _ heads: [(shard: Shard, sequence: Int64)], askedAfter seenHeads: [Int64]
    ) throws(LedgerError) {
        let isThere = generations.withLock { generations in
            for (shard, head) in heads {
                let index = Int(shard.number)
                if head < seenHeads[index] {
                    generations = Generations()
                    return false
                }
                generations.heads[index] = max(generations.heads[index], head)
            }
            return true
        }
        if !isThere { throw .logShrunk }
    }
}
