import Synchronization

/// Refused certificate chains, recognized by the digest of their header. A chain stays refused
/// whatever the signing time.
final class RefusedChains: Sendable {
    private let known = Mutex<[[UInt8]: EvidenceRefusal]>([:])
    private let limit: Int

    init(limit: Int) {
        self.limit = limit
    }

    func refusal(of header: [UInt8]) -> EvidenceRefusal? {
        known.withLock { $0[header] }
    }

    /// Remembers a refusal. A full set is cleared first. A separate limit bounds how often chains are checked again.
    func remember(_ refusal: EvidenceRefusal, of header: [UInt8]) {
        known.withLock { known in
            if known.count >= limit { known = [:] }
            known[header] = refusal
        }
    }
}
