/// What is known about the signer of evidence before any of it is proven, which tells how costly the
/// proof will be.
package enum SignerStanding: Hashable, Sendable {
    /// A signature by the same certificates was recently genuine; another one costs one check.
    case believed
    /// The certificates were recently refused.
    case refused(RefusedEvidence)
    /// The certificates were not checked recently.
    case unknown
    /// The evidence names no signer.
    case missing
}
