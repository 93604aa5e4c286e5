package import Core
internal import JSON

/// Google's evidence, none of which is signed. An answer is trusted because our own client fetched it. A token only
/// says what to ask Google about.
package struct PlayEvidence: StoreEvidence {
    package static let kinds = EvidenceKind.play

    package init() {}

    package static func bare(
        _ bytes: [UInt8], as kind: EvidenceKind
    ) throws(EvidenceRefusal) -> [UInt8] {
        kind == .playToken ? try PlayTokenNote(bytes).bytes : bytes
    }

    package static func heading(
        of bytes: [UInt8], as kind: EvidenceKind
    ) throws(EvidenceRefusal) -> (app: AppID?, environment: Environment) {
        // The environment is stated only in Google's answer.
        if kind == .playToken { return (try PlayTokenNote(bytes).app, .production) }
        let statement = try read(answer: bytes, as: kind, from: nil)
        return (statement.app, statement.environment)
    }

    package static func read(
        _ bytes: [UInt8], as kind: EvidenceKind, rank: Rank, companion: AppID?
    ) throws(EvidenceRefusal) -> StoreStatement<Unverified> {
        if kind == .playToken {
            _ = try PlayTokenNote(bytes)
            throw .tokenOnly
        }
        return try read(answer: bytes, as: kind, from: nil)
    }

    package static func read(
        answer body: [UInt8], as kind: EvidenceKind, from host: Environment?
    ) throws(EvidenceRefusal) -> StoreStatement<Unverified> {
        let answer = try PlayAnswer(bytes: body)
        if answer.kind != kind { throw .wrongKind(expected: kind, found: answer.kind) }
        let contents = try answer.contents()
        return StoreStatement(
            Heading(
                kind: kind, environmentName: contents.isTest ? "test" : "production",
                environment: contents.isTest ? .sandbox : .production, app: answer.app,
                appleID: nil),
            signedAt: answer.readAt, contents: contents.contents)
    }

    /// Always refuses: an answer counts only if our own client fetched it, in which case it does not pass through here.
    package func verify(
        _ bytes: [UInt8], as kind: EvidenceKind, on terms: Terms
    ) throws(EvidenceRefusal) -> StoreStatement<Verified> {
        if bytes.count > RawEvidence.byteLimit { throw .tooLarge(limit: RawEvidence.byteLimit) }
        if kind == .playToken {
            _ = try PlayTokenNote(bytes)
            throw .tokenOnly
        }
        try terms.requireApp(Self.read(answer: bytes, as: kind, from: nil))
        throw .answerOnly
    }

    package func standing(ofSigner bytes: [UInt8]) -> SignerStanding { .missing }

    package func pack(_ bytes: [UInt8], as kind: EvidenceKind) -> PackedEvidence {
        PackedEvidence([.literal(bytes)])
    }
}
