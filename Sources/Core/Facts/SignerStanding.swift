/// What is known about the signer of evidence before any of it is proven: what it will cost to find out.
package enum SignerStanding: Hashable, Sendable {
    /// A signature of the same certificates was genuine lately; one more costs one look.
    case believed
    /// The certificates were refused lately.
    case refused(RefusedEvidence)
    /// These certificates were not followed lately.
    case unknown
    /// Nothing names a signer.
    case missing
}
