internal import Crypto
import Synchronization

/// A bounded set of digests. When it is half full the older half is forgotten, all at once.
final class RecentDigests: Sendable {
    private struct Generations {
        var young: Set<Digest32> = []
        var old: Set<Digest32> = []
    }
    private let generations = Mutex(Generations())
    private let limit: Int

    /// A set of at most so many digests.
    init(limit: Int) {
        self.limit = limit
    }

    func holds(_ digest: Digest32) -> Bool {
        generations.withLock { $0.young.contains(digest) || $0.old.contains(digest) }
    }

    func remember(_ digest: Digest32) {
        generations.withLock { generations in
            if generations.young.count >= limit / 2 {
                generations.old = generations.young
                generations.young = []
            }
            generations.young.insert(digest)
        }
    }
}
