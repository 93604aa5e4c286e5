import Core
import Synchronization

/// The folds of recently used streams. Each covers the first events of its stream, so an old fold is still correct and
/// only has to be brought up to date.
///
/// Two generations limit the cache without any bookkeeping on each use. When the young generation is full, it becomes
/// the old one, and folds still in use are copied back from it.
final class StateCache: Sendable {
    /// The heads of shards before any position was seen.
    static let noHeads = [Int64](repeating: 0, count: Shard.count)

    private struct Generations {
        var young: [Stream: Fold] = [:]
        var old: [Stream: Fold] = [:]
        /// The approximate size of the young generation in bytes.
        var weight = 0
        var oldWeight = 0
        /// How many times the log has started over.
        var epoch = 0
        /// The highest position seen in each shard.
        var heads = StateCache.noHeads

        mutating func find(_ stream: Stream, limit: Int) -> Fold? {
            if let fold = young[stream] { return fold }
            guard let fold = old[stream] else { return nil }
            keep(fold, of: stream, limit: limit)
            return fold
        }

        mutating func keep(_ fold: Fold, of stream: Stream, limit: Int) {
            let added = fold.weight
            if weight + added > limit, !young.isEmpty {
                (old, oldWeight) = (young, weight)
                (young, weight) = ([:], 0)
            }
            let replaced = young.updateValue(fold, forKey: stream)
            weight += added - (replaced?.weight ?? 0)
        }
    }
    private let generations = Mutex(Generations())
    private let weightLimit: Int
    /// Receives the folds of streams that have grown since their states were kept.
    let keeper = StateKeeper()
    let catalogs = CatalogCache()

    /// Creates a cache of at most roughly the given number of bytes.
    init(bytes: Int) {
        weightLimit = bytes / 2
    }

    /// Forgets every fold and the known length of the log if the log has started over since the last call.
    func begin(epoch: Int) {
        generations.withLock { generations in
            if generations.epoch == epoch { return }
            generations = Generations()
            generations.epoch = epoch
            catalogs.forget()
        }
    }

    subscript(stream: Stream) -> Fold? {
        generations.withLock { $0.find(stream, limit: weightLimit) }
    }

    /// Returns the cached fold of each stream, and `seenHeads`.
    func folds(of streams: [Stream]) -> (folds: [Fold], seenHeads: [Int64]) {
        generations.withLock { generations in
            let folds = streams.map { stream in
                generations.find(stream, limit: weightLimit) ?? Fold(emptyFor: stream)
            }
            return (folds, generations.heads)
        }
    }

    /// Stores the fold, unless the cache has a newer one or the log has started over since the
    /// request. An incomplete fold ends before an unreadable event.
    func keep(_ fold: Fold, of stream: Stream, askedIn epoch: Int, isWhole: Bool = true) {
        generations.withLock { generations in
            if generations.epoch != epoch { return }
            let known = generations.young[stream] ?? generations.old[stream]
            if let known, known.version >= fold.version { return }
            if let known { catalogs.keep(known.state.project, of: stream, before: fold.state) }
            var fold = fold
            if isWhole { keeper.keep(&fold, of: stream, askedIn: epoch) }
            generations.keep(fold, of: stream, limit: weightLimit)
        }
    }

    /// Forgets a fold that ends before that version.
    func forget(_ stream: Stream, before version: Int64) {
        generations.withLock { generations in
            if let fold = generations.old[stream], fold.version < version {
                generations.old[stream] = nil
                generations.oldWeight -= fold.weight
            }
            guard let fold = generations.young[stream], fold.version < version else { return }
            generations.young[stream] = nil
            generations.weight -= fold.weight
        }
    }

    /// The approximate size of all folds in bytes.
    var weight: Int { generations.withLock { $0.weight + $0.oldWeight } }

    /// The highest position seen in each shard. A caller that reads this and then queries the database finds the same
    /// position or a later one.
    var seenHeads: [Int64] { generations.withLock { $0.heads } }

    /// Records how far this process itself has advanced the shards.
    func observe(_ heads: [Shard: ShardHead]) {
        generations.withLock { generations in
            for (shard, head) in heads {
                let index = Int(shard.number)
                generations.heads[index] = max(generations.heads[index], head.sequence)
            }
        }
    }

    /// Records where shards end. If a shard ends before a position that was seen before the query,
    /// forgets every fold and throws: the database was restored to an earlier state while this
    /// process was running. Positions that other threads saw in the meantime prove nothing.
    func observe(
        _ heads: [(shard: Shard, sequence: Int64)], askedAfter seenHeads: [Int64]
    ) throws(LedgerError) {
        let isThere = generations.withLock { generations in
            for (shard, head) in heads {
                let index = Int(shard.number)
                if head < seenHeads[index] {
                    let epoch = generations.epoch
                    generations = Generations()
                    generations.epoch = epoch
                    catalogs.forget()
                    return false
                }
                generations.heads[index] = max(generations.heads[index], head)
            }
            return true
        }
        if !isThere { throw .logShrunk }
    }
}
