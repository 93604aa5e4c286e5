package import Core

/// One store's evidence: its kinds, what each kind states, and how it is proven. All evidence is
/// passed in its bare form, without its transport wrapping.
package protocol StoreEvidence: Sendable {
    static var kinds: [EvidenceKind] { get }

    /// Returns the bare evidence, which does not depend on how the evidence arrived.
    static func bare(_ bytes: [UInt8], as kind: EvidenceKind) throws(EvidenceRefusal) -> [UInt8]

    /// Returns the app and the environment that the evidence names, proven or not.
    static func heading(
        of bytes: [UInt8], as kind: EvidenceKind
    ) throws(EvidenceRefusal) -> (app: AppID?, environment: Environment)

    /// Returns the evidence's statement, proven or not.
    static func read(
        _ bytes: [UInt8], as kind: EvidenceKind, rank: Rank, companion: AppID?
    ) throws(EvidenceRefusal) -> StoreStatement<Unverified>

    /// Returns the statement in an answer with which the store confirms the evidence.
    static func read(
        answer body: [UInt8], as kind: EvidenceKind, from host: Environment?
    ) throws(EvidenceRefusal) -> StoreStatement<Unverified>

    /// Returns the evidence's statement. Throws unless the evidence is proven and meets the terms.
    func verify(
        _ bytes: [UInt8], as kind: EvidenceKind, on terms: Terms
    ) throws(EvidenceRefusal) -> StoreStatement<Verified>

    /// Returns what is known about the signer before the evidence is proven.
    func standing(ofSigner bytes: [UInt8]) -> SignerStanding

    /// Returns the evidence in its stored form.
    func pack(_ bytes: [UInt8], as kind: EvidenceKind) -> PackedEvidence
}

extension StoreEvidence {
    /// Returns the statement in evidence that was proven earlier with exactly these bytes. Only the
    /// terms are checked again.
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

    /// Returns the statement in the store's answer. Throws unless it meets the terms.
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
