package import Auditing
import Core
internal import Crypto

extension FiledEvidence {
    /// The original bytes of the accepted evidence, if they are stored and undamaged.
    package var unpacked: [UInt8]? {
        guard let bytes = content.flatMap({ PackedEvidence.unpack($0, certificates) }),
            SHA256.digest(bytes).bytes == digest
        else { return nil }
        return bytes
    }
}

extension [any StoreEvidence] {
    /// Proves stored evidence again, for the store from which it came.
    package func proveAgain(_ filed: FiledEvidence) -> EvidenceProof {
        let store = first { type(of: $0).kinds.contains { $0.word == filed.kind } }
        return store?.proveAgain(filed) ?? (filed.content == nil ? .digestOnly : .damaged)
    }
}

extension StoreEvidence {
    /// Proves stored evidence again for the app that it names, as of the day on which it was accepted.
    package func proveAgain(_ filed: FiledEvidence) -> EvidenceProof {
        guard let content = filed.content else { return .digestOnly }
        guard let kind = Self.kinds.first(where: { $0.word == filed.kind }),
            let bytes = PackedEvidence.unpack(content, filed.certificates),
            SHA256.digest(bytes).bytes == filed.digest
        else { return .damaged }
        do throws(EvidenceRefusal) {
            let statement =
                kind.proof == .connection
                ? try reread(bytes, as: kind, filed) : try verify(bytes, as: kind, filed)
            return .proven(
                ProvenAgain(
                    kind: kind, app: statement.app, environment: statement.environment,
                    signedAt: statement.signedAt, facts: statement.facts))
        } catch {
            return .refused(sentence: error.description)
        }
    }

    private func verify(
        _ bytes: [UInt8], as kind: EvidenceKind, _ filed: FiledEvidence
    ) throws(EvidenceRefusal) -> StoreStatement<Verified> {
        // Evidence that names no app was stored under its companion's app. The event must name the same app.
        let companion = kind.namesApp ? nil : filed.app.flatMap { try? AppID($0) }
        let app = try Self.read(
            bytes, as: kind, rank: .clientTransaction, companion: companion
        ).app
        var terms = Terms(
            apps: app.map { [TrustedApp(id: $0, appleID: nil)] } ?? [], now: filed.firstSeenAt,
            rank: .clientTransaction)
        terms.companion = companion
        return try verify(bytes, as: kind, on: terms)
    }

    /// Checks evidence that is not signed. Only the seal on its columns shows that it was fetched from the store.
    private func reread(
        _ bytes: [UInt8], as kind: EvidenceKind, _ filed: FiledEvidence
    ) throws(EvidenceRefusal) -> StoreStatement<Verified> {
        try Self.read(answer: bytes, as: kind, from: Environment(rawValue: filed.environment))
            .vouched(by: .belief)
    }
}
