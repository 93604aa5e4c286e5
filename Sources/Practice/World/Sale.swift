package import Core

/// A transaction in the store's records.
package struct Sale: Codable, Sendable {
    package struct Revocation: Codable, Sendable {
        package enum Extent: String, Sendable, Codable {
            case full = "REFUND_FULL"
            case prorated = "REFUND_PRORATED"
            case family = "FAMILY_REVOKE"
        }
        package var at: Instant
        package var extent: Extent
        /// The refunded share, in thousandths of a percent.
        package var milliPercent: Int64?
        package var isForApp: Bool
    }

    /// The position of a period in a twelve-month commitment.
    package struct Commitment: Codable, Sendable {
        package var number: Int64
        package var ends: Instant
        package static let total: Int64 = 12
    }

    package let id: String
    package let original: String
    package let customer: String
    package let product: String
    package let kind: ProductKind
    package let group: String?
    package let purchased: Instant
    package let originallyPurchased: Instant
    package var expires: Instant?
    package var quantity: Int64 = 1
    package let lineItem: String
    package let order: String
    package var isRenewal = false
    package var price: Int64
    package var currency: String
    package var offer: Article.Offer?
    /// The family organiser's purchase from which this share comes.
    package var sharedFrom: String?
    package var token: String?
    package var revocation: Revocation?
    /// When an upgrade replaced the transaction.
    package var upgraded: Instant?
    package var commitment: Commitment?
    package var isFinished = false
    /// When the store last changed anything about the transaction.
    package var changed: Instant

    package var isShared: Bool { sharedFrom != nil }
    package var isUpgraded: Bool { upgraded != nil }
}

/// The store's records about the renewal of a subscription.
package struct Subscription: Codable, Sendable {
    package enum Phase: String, Sendable, Codable {
        case active
        case grace
        case retry
        case ended
        case revoked
    }

    /// Why the subscription will not renew, with the store's numeric codes.
    package enum Intent: Int64, Sendable, Codable {
        case cancelled = 1
        case billing = 2
        case priceRefused = 3
        case withdrawn = 4
        case other = 5
    }

    struct PriceChange: Codable, Sendable {
        var price: Int64
        var needsConsent: Bool
        var isConsented: Bool
    }

    package let original: String
    package let customer: String
    package let group: String
    package var product: String
    package var nextProduct: String
    package var willRenew = true
    package var phase = Phase.active
    /// The transaction of the newest period.
    package var latest: String
    /// When the newest period ends.
    package var ends: Instant
    /// When the store will charge for the next period; `nil` once it has tried to.
    var renewsAt: Instant?
    package var graceUntil: Instant?
    /// The grace period that a refund ended. It is restored if the refund is reversed.
    var refundedGrace: Instant?
    var retryUntil: Instant?
    package var intent: Intent?
    var token: String?
    /// When the current run of periods began.
    var streakStart: Instant
    var price: Int64
    var change: PriceChange?
    /// The offer for the current period, and the number of payments left under it.
    var offer: Article.Offer?
    var paymentsLeft = 0
    /// The offer for the next period.
    var nextOffer: Article.Offer?
    /// Whether a new commitment starts when this one ends.
    var willCommitAgain = true
    /// The family organiser's subscription from which this share comes.
    package var sharedFrom: String?
    var extensions: [Instant] = []

    package var isServing: Bool { phase == .active || phase == .grace }

    /// When the store will next act on the subscription on its own.
    var due: Instant? {
        // A share changes only together with the organiser's subscription.
        if sharedFrom != nil { return nil }
        return switch phase {
        case .active: renewsAt ?? ends
        case .grace: graceUntil
        case .retry: retryUntil
        case .ended, .revoked: nil
        }
    }

    /// The status number in the server API and in notifications.
    package var status: Int64 {
        switch phase {
        case .active: 1
        case .ended: 2
        case .retry: 3
        case .grace: 4
        case .revoked: 5
        }
    }
}
