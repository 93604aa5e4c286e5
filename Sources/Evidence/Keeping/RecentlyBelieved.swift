internal import Core
internal import Crypto
import Synchronization

/// A bounded set of accepted evidence, by digest and kind. The kind matters because bytes that prove one kind of
/// evidence do not prove another. When the newer half is full, the older half is dropped.
final class RecentlyBelieved: Sendable {
    private struct Piece: Hashable {
        let digest: Digest32
        let kind: EvidenceKind
    }
    private struct Generations {
        var young: Set<Piece> = []
        var old: Set<Piece> = []
    }
    private let generations = Mutex(Generations())
    private let limit: Int

    /// Creates a set for at most `limit` pieces of evidence.
    init(limit: Int) {
        self.limit = limit
    }

    func holds(_ digest: Digest32, as kind: EvidenceKind) -> Bool {
        let piece = Piece(digest: digest, kind: kind)
        return generations.withLock { $0.young.contains(piece) || $0.old.contains(piece) }
    }

    func remember(_ digest: Digest32, as kind: EvidenceKind) {
        generations.withLock { generations in
            if generations.young.count >= limit / 2 {
                generations.old = generations.young
                generations.young = []
            }
            generations.young.insert(Piece(digest: digest, kind: kind))
        }
    }
}
