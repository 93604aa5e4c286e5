/// What is known about the signer before the evidence is verified. It shows how costly the verification will be.
package enum SignerStanding: Hashable, Sendable {
    /// Another signature with the same certificates was recently found genuine. Verifying this one
    /// takes a single check.
    case believed
    /// The certificates were recently refused.
    case refused(RefusedEvidence)
    /// The certificates have not been checked recently.
    case unknown
    /// The evidence does not name a signer.
    case missing
}
