package import Core

/// One store's evidence: its kinds, what each of them states, and how it is proven. Evidence is bare here:
/// without its wrapping for transport.
package protocol StoreEvidence: Sendable {
    static var kinds: [EvidenceKind] { get }

    /// The same bytes for the same evidence, however it came.
    static func bare(_ bytes: [UInt8], as kind: EvidenceKind) throws(EvidenceRefusal) -> [UInt8]

    /// The app and the environment that it names, proven or not.
    static func heading(
        of bytes: [UInt8], as kind: EvidenceKind
    ) throws(EvidenceRefusal) -> (app: AppID?, environment: Environment)

    /// What it states, believed or not.
    static func read(
        _ bytes: [UInt8], as kind: EvidenceKind, rank: Rank, companion: AppID?
    ) throws(EvidenceRefusal) -> StoreStatement<Unverified>

    /// What an answer states by which the store vouches for the evidence in question.
    static func read(
        answer body: [UInt8], as kind: EvidenceKind, from host: Environment?
    ) throws(EvidenceRefusal) -> StoreStatement<Unverified>

    /// What it states, once it is proven and meets the terms.
    func verify(
        _ bytes: [UInt8], as kind: EvidenceKind, on terms: Terms
    ) throws(EvidenceRefusal) -> StoreStatement<Verified>

    /// What is known about its signer before it is proven.
    func standing(ofSigner bytes: [UInt8]) -> SignerStanding

    /// The evidence as it is stored.
    func pack(_ bytes: [UInt8], as kind: EvidenceKind) -> PackedEvidence
}

extension StoreEvidence {
    /// What evidence states if exactly these bytes were proven before: only the terms are checked again.
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

    /// What an answer from the store states, once it meets the terms.
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
