package import Core
internal import Crypto

extension Verifier {
    /// Proves kept evidence as on the day on which it was believed, for the app that it names.
    package func proveAgain(_ filed: FiledEvidence) -> EvidenceProof {
        guard let content = filed.content else { return .digestOnly }
        guard let kind = EvidenceKind(rawValue: filed.kind),
            let bytes = PackedEvidence.unpack(content, filed.certificates),
            SHA256.digest(bytes).bytes == filed.digest
        else { return .damaged }
        do throws(EvidenceRefusal) {
            let app = try Verifier.read(bytes, as: kind).app
            let trusted = app.map {
                TrustedApp(id: $0, appleID: nil, environments: Set(Environment.allCases))
            }
            let statement = try verify(
                bytes, as: kind,
                on: Terms(
                    apps: trusted.map { [$0] } ?? [], now: filed.firstSeenAt,
                    rank: .clientTransaction))
            return .proven(
                ProvenAgain(
                    app: statement.app, environment: statement.environment,
                    signedAt: statement.signedAt, facts: statement.facts))
        } catch {
            return .refused(sentence: error.description)
        }
    }
}
