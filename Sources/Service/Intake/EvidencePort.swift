package import Core

/// What the use cases need of those who can tell genuine evidence from any other.
package struct EvidencePort: Sendable {
    package typealias Prove =
        @Sendable (RawEvidence, _ apps: [TrustedApp], _ now: Instant) throws(RefusedEvidence) ->
        ProvenEvidence

    /// What the evidence states, once it is proven to be a store's and of one of the apps. Bytes that
    /// were believed before cost a look-up.
    package var prove: Prove
    /// What evidence states that is known to be believed: the store was asked about these bytes.
    package var readVouched: Prove
    /// The evidence without what it was wrapped in for the way.
    package var bare: @Sendable (RawEvidence) throws(RefusedEvidence) -> RawEvidence
    /// What the evidence says of itself, proven or not: whom to ask about it.
    package var heading: @Sendable (RawEvidence) throws(RefusedEvidence) -> EvidenceHeading
    /// What it will cost to tell whether bare evidence is genuine.
    package var standing: @Sendable (RawEvidence) -> SignerStanding

    package init(
        prove: @escaping Prove, readVouched: @escaping Prove,
        bare: @escaping @Sendable (RawEvidence) throws(RefusedEvidence) -> RawEvidence,
        heading: @escaping @Sendable (RawEvidence) throws(RefusedEvidence) -> EvidenceHeading,
        standing: @escaping @Sendable (RawEvidence) -> SignerStanding
    ) {
        self.prove = prove
        self.readVouched = readVouched
        self.bare = bare
        self.heading = heading
        self.standing = standing
    }
}
