package import Core
internal import Crypto

/// What became of proving kept evidence again, from nothing but what is kept of it.
package enum EvidenceFinding: Hashable, Sendable {
    case proven
    /// No more than its digest is kept: there is nothing to prove.
    case digestOnly
    /// The store refused it, or whoever was asked: it is kept to show that.
    case notBelieved
    /// What is kept is not what was believed.
    case damaged
    case refused(EvidenceRefusal)
}

extension Verifier {
    /// Proves kept evidence as on the day on which it was believed, for the app that it names.
    package func proveAgain(_ filed: FiledEvidence) -> EvidenceFinding {
        guard let content = filed.content else { return .digestOnly }
        if !filed.isBelieved { return .notBelieved }
        guard let kind = EvidenceKind(rawValue: filed.kind),
            let bytes = PackedEvidence.unpack(content, filed.certificates),
            SHA256.digest(bytes).bytes == filed.digest
        else { return .damaged }
        do throws(EvidenceRefusal) {
            let app = try Verifier.read(bytes, as: kind).app
            let trusted = app.map {
                TrustedApp(id: $0, appleID: nil, environments: Set(Environment.allCases))
            }
            _ = try verify(
                bytes, as: kind,
                on: Terms(
                    apps: trusted.map { [$0] } ?? [], now: filed.firstSeenAt,
                    rank: .clientTransaction))
            return .proven
        } catch {
            return .refused(error)
        }
    }
}
