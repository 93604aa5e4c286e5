/// What is known about the signer before the evidence is verified. This shows how costly the
/// verification will be.
package enum SignerStanding: Hashable, Sendable {
    /// A signature with the same certificates was recently found genuine. Verifying another one
    /// takes a single check.
    case believed
    /// The certificates were recently refused.
    case refused(RefusedEvidence)
    /// The certificates have not been checked recently.
    case unknown
    /// The evidence does not name a signer.
    case missing
}
