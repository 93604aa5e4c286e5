package import Core

/// One store's evidence: its kinds, what each kind states, and how it is proven. Evidence is bare here, without
/// its transport wrapping.
package protocol StoreEvidence: Sendable {
    static var kinds: [EvidenceKind] { get }

    /// The bare evidence. It is the same however the evidence arrived.
    static func bare(_ bytes: [UInt8], as kind: EvidenceKind) throws(EvidenceRefusal) -> [UInt8]

    /// The app and the environment that the evidence names, whether or not it is proven.
    static func heading(
        of bytes: [UInt8], as kind: EvidenceKind
    ) throws(EvidenceRefusal) -> (app: AppID?, environment: Environment)

    /// The evidence's statement, whether or not it is proven.
    static func read(
        _ bytes: [UInt8], as kind: EvidenceKind, rank: Rank, companion: AppID?
    ) throws(EvidenceRefusal) -> StoreStatement<Unverified>

    /// The statement in an answer by which the store confirms the evidence.
    static func read(
        answer body: [UInt8], as kind: EvidenceKind, from host: Environment?
    ) throws(EvidenceRefusal) -> StoreStatement<Unverified>

    /// The evidence's statement, once it is proven and meets the terms.
    func verify(
        _ bytes: [UInt8], as kind: EvidenceKind, on terms: Terms
    ) throws(EvidenceRefusal) -> StoreStatement<Verified>

    /// What is already known about the signer before the evidence is proven.
    func standing(ofSigner bytes: [UInt8]) -> SignerStanding

    /// The evidence in its stored form.
    func pack(_ bytes: [UInt8], as kind: EvidenceKind) -> PackedEvidence
}

extension StoreEvidence {
    /// The statement of evidence that was proven before with exactly these bytes. Only the terms are checked again.
    func reread(
        _ bytes: [UInt8], as kind: EvidenceKind, on terms: Terms
    ) throws(EvidenceRefusal) -> StoreStatement<Verified> {
        if kind.proof == .connection { throw .unsigned }
        let statement = try Self.read(
            bytes, as: kind, rank: terms.rank, companion: terms.companion)
        try terms.requireNotInFuture(statement.signedAt)
        try terms.requireApp(statement)
        try terms.requireLicence(statement)
        return statement.vouched(by: .belief)
    }

    /// The statement in an answer from the store, once it meets the terms.
    package func verify(
        _ answer: FetchedAnswer, on terms: Terms
    ) throws(EvidenceRefusal) -> StoreStatement<Verified> {
        if answer.body.count > RawEvidence.byteLimit {
            throw .tooLarge(limit: RawEvidence.byteLimit)
        }
        let statement = try Self.read(answer: answer.body, as: answer.kind, from: answer.host)
        try terms.requireNotInFuture(statement.signedAt)
        if let host = answer.host, statement.environment != host {
            throw .replyFromOtherEnvironment(statement.environment)
        }
        try terms.requireApp(statement)
        try terms.requireLicence(statement)
        return statement.vouched(by: .fetched(answer))
    }
}
