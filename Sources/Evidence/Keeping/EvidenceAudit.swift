package import Auditing
import Core
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
            if kind == .verifyReceiptReply { return .proven(try reread(bytes, filed)) }
            // A renewal info names no app: it was filed under the app of what came with it, which the
            // event has to name, too.
            let companion =
                kind == .renewalInfo ? filed.app.flatMap { try? AppID($0) } : nil
            let app = try Verifier.read(bytes, as: kind, companion: companion).app
            var terms = Terms(
                apps: app.map { [TrustedApp(id: $0, appleID: nil)] } ?? [], now: filed.firstSeenAt,
                rank: .clientTransaction)
            terms.companion = companion
            let statement = try verify(bytes, as: kind, on: terms)
            return .proven(
                ProvenAgain(
                    app: statement.app, environment: statement.environment,
                    signedAt: statement.signedAt, facts: statement.facts))
        } catch {
            return .refused(sentence: error.description)
        }
    }

    /// It is not signed: only the column's seal shows that it was fetched from the store.
    private func reread(
        _ bytes: [UInt8], _ filed: FiledEvidence
    ) throws(EvidenceRefusal) -> ProvenAgain {
        let reply = try VerifyReceiptReply(bytes)
        try reply.requireValid()
        let statement = try reply.statement(
            rank: .verifyReceiptReply, host: Environment(rawValue: filed.environment))
        return ProvenAgain(
            app: statement.app, environment: statement.environment,
            signedAt: statement.signedAt, facts: statement.vouched(by: .belief).facts)
    }
}
