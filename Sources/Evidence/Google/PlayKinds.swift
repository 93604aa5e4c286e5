package import Core

/// Google's kinds of evidence: the token submitted by a back end, and Google's answers about it.
extension EvidenceKind {
    package static let playToken = EvidenceKind(.google, "google_token", by: .word)
    package static let playSubscription = EvidenceKind(
        .google, "google_subscription", by: .connection)
    package static let playPurchase = EvidenceKind(.google, "google_purchase", by: .connection)
    /// An answer from the older API about a one-time product.
    package static let playProduct = EvidenceKind(.google, "google_product", by: .connection)

    package static let play = [playToken, playSubscription, playPurchase, playProduct]
}
