/// What is known about the signer before any of the evidence is proven. It shows how costly the
/// proof will be.
package enum SignerStanding: Hashable, Sendable {
    /// A signature with the same certificates was recently found genuine. Another one costs a
    /// single check.
    case believed
    /// The certificates were recently refused.
    case refused(RefusedEvidence)
    /// The certificates have not been checked recently.
    case unknown
    /// The evidence does not name a signer.
    case missing
}
