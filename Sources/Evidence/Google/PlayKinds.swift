package import Core

/// Google's kinds of evidence. A token is what a back end submits; the others are what Google answers about it.
extension EvidenceKind {
    package static let playToken = EvidenceKind(.google, "google_token", by: .word)
    package static let playSubscription = EvidenceKind(
        .google, "google_subscription", by: .connection)
    package static let playPurchase = EvidenceKind(.google, "google_purchase", by: .connection)
    /// The first form of an answer about a one-time product.
    package static let playProduct = EvidenceKind(.google, "google_product", by: .connection)

    package static let play = [playToken, playSubscription, playPurchase, playProduct]
}
