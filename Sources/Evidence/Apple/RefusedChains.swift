import Synchronization

/// Chains that were checked and refused, recognized by the digest of the header that names them. The
/// time of signing does not matter: the refusal holds for every instant.
final class RefusedChains: Sendable {
    private let known = Mutex<[[UInt8]: EvidenceRefusal]>([:])
    private let limit: Int

    init(limit: Int) {
        self.limit = limit
    }

    func refusal(of header: [UInt8]) -> EvidenceRefusal? {
        known.withLock { $0[header] }
    }

    /// Forgets all if there are too many: another limit bounds how often they are checked again.
    func remember(_ refusal: EvidenceRefusal, of header: [UInt8]) {
        known.withLock { known in
            if known.count >= limit { known = [:] }
            known[header] = refusal
        }
    }
}
