package import Core

/// The store's records of its sales in Google Play.
package struct PlayBooks: Codable, Sendable {
    package internal(set) var subscriptions: [String: PlaySubscription] = [:]
    package internal(set) var goods: [String: PlayGood] = [:]
    package internal(set) var orders: [String: PlayOrder] = [:]
    package internal(set) var voids: [PlayVoid] = []
    package internal(set) var messages: [PlayMessage] = []
    var brokenCards: Set<String> = []
    var prices: [PlayChoice: Int64] = [:]
    /// The number of names given out. Counted separately from the App Store, so that sales here do not affect the
    /// names there.
    var named: UInt64 = 0

    /// The maximum number of messages that are kept.
    static let messageLimit = 2000

    var isEmpty: Bool { named == 0 && brokenCards.isEmpty && prices.isEmpty }
}

/// Reads Google Play's books, which may be missing: a folder from before the store sold in Google
/// Play lacks them, and a store without sales there does not write them.
extension KeyedDecodingContainer {
    func decode(_ type: PlayBooks.Type, forKey key: Key) throws -> PlayBooks {
        try decodeIfPresent(type, forKey: key) ?? PlayBooks()
    }
}

extension KeyedEncodingContainer {
    mutating func encode(_ books: PlayBooks, forKey key: Key) throws {
        try encodeIfPresent(books.isEmpty ? nil : books, forKey: key)
    }
}

/// A purchase token for a subscription.
package struct PlaySubscription: Codable, Sendable {
    package enum Phase: String, Codable, Sendable {
        /// The first payment is still pending.
        case pending
        /// The first payment was never made.
        case declined
        case active
        /// A renewal failed less than a day ago, and the store does not report this yet.
        case silent
        case grace
        case hold
        case paused
        case ended
        /// A refund has ended the subscription.
        case revoked
        /// Another token has replaced this one.
        case replaced
    }

    enum Cancellation: Codable, Sendable {
        case user(Instant)
        case system
        case developer
        case replacement
    }

    struct Pause: Codable, Sendable {
        let days: Int64
        /// When the pause ends; `nil` until it starts.
        var until: Instant?
    }

    package let token: String
    package let customer: String
    /// The number of the purchase among the customer's purchases.
    let number: UInt64
    var entry = Entry.fresh
    package var phase: Phase
    package var items: [PlayItem]
    var started: Instant?
    /// The deadline for acknowledging the purchase; `nil` once it is acknowledged.
    package var acknowledgeBy: Instant?
    package var isAcknowledged = false
    /// The token of the purchase that this one continues, and the token of the purchase that continues this one.
    package var linked: String?
    package var replacedBy: String?
    var accountToken: String?
    var profile: String?
    var cancellation: Cancellation?
    var pause: Pause?
    /// The expired token, if the customer resubscribed in the Play Store app.
    var expiredToken: String?
    /// When the period with the failed payment ended, and when the grace period or the hold ends.
    var failedAt: Instant?
    var graceUntil: Instant?
    var holdUntil: Instant?
    var ended: Instant?
    /// The name of the first order, and the number of orders after it.
    let firstOrder: String
    var renewals = 0
    /// The number of changes, used for the entity tag.
    var revision: UInt64 = 1

    package var isServing: Bool { [.active, .silent, .grace].contains(phase) }
    package var isOver: Bool { [.declined, .ended, .revoked, .replaced].contains(phase) }

    /// Whether any of the items renews.
    var renews: Bool { items.contains { $0.renews } }

    /// When the current period ends. Items that wait for a deferred change have no period yet.
    var ends: Instant? { items.compactMap(\.expires).max() }

    /// When the store will next act on the subscription on its own.
    var due: Instant? {
        let next: Instant?
        switch phase {
        case .active, .silent, .grace: next = ends
        case .hold: next = holdUntil
        case .paused: next = pause?.until
        case .pending, .declined, .ended, .revoked, .replaced: return nil
        }
        return [next, acknowledgeBy].compactMap(\.self).min()
    }
}

/// A subscription's line item.
package struct PlayItem: Codable, Sendable {
    struct Replaced: Codable, Sendable {
        let choice: PlayChoice
        let offer: String?
        let mode: String
        let at: Instant
    }

    struct PriceChange: Codable, Sendable {
        let price: Int64
        let needsConsent: Bool
        var isConsented: Bool
        var isApplied = false
    }

    package let choice: PlayChoice
    let kind: PlayShop.BasePlan.Kind
    var offer: PlayShop.Offer?
    /// The number of payments made with the offer.
    var paid = 0
    var price: Int64
    let currency: String
    var begun: Instant
    /// When the item's period ends; `nil` during a deferred change.
    package var expires: Instant?
    package var order: String?
    package var renews: Bool
    /// Whether money left over from an earlier product paid for the period.
    var isProrated = false
    /// The product that replaces this one when its period ends.
    var deferred: String?
    /// Whether only this item ends when its period ends.
    var isRemoved = false
    var replaced: Replaced?
    var change: PriceChange?
    /// The number of remaining payments in a commitment, and whether the item ends with them.
    var paymentsLeft: Int?
    var hasCommitted = false
    var endsWithCommitment = false

    /// The phase of the offer to which the current period belongs.
    var phase: PlayShop.Offer.Phase? { paid > 0 ? offer?.phase(ofPayment: paid - 1) : nil }
}

/// A purchase token for a one-time product.
package struct PlayGood: Codable, Sendable {
    package enum Phase: String, Codable, Sendable {
        case pending
        /// The purchase was never paid for, or was refunded and revoked.
        case cancelled
        case purchased
    }

    package enum Option: String, Codable, Sendable {
        case buy
        case rent
        case preorder
    }

    package let token: String
    package let customer: String
    let number: UInt64
    package let product: String
    let option: Option
    package let quantity: Int64
    /// The refunded quantity.
    package var refunded: Int64 = 0
    package var phase: Phase
    let asked: Instant
    var purchased: Instant?
    package var acknowledgeBy: Instant?
    package var isAcknowledged = false
    package var isConsumed = false
    /// When a rental ends, and when a pre-order is charged.
    var rentedUntil: Instant?
    var released: Instant?
    var accountToken: String?
    var isRefunded = false
    package let order: String

    var due: Instant? {
        switch phase {
        case .pending: released
        case .purchased: acknowledgeBy
        case .cancelled: nil
        }
    }

    /// Returns whether the customer owns the product. If so, the store does not sell it again.
    func isOwned(at now: Instant) -> Bool {
        switch phase {
        case .pending: true
        case .cancelled: false
        case .purchased: !isConsumed && rentedUntil.map { now < $0 } ?? true
        }
    }
}

package struct PlayOrder: Codable, Sendable {
    package enum State: String, Codable, Sendable {
        case pending = "PENDING"
        case processed = "PROCESSED"
        case cancelled = "CANCELED"
        case partlyRefunded = "PARTIALLY_REFUNDED"
        case refunded = "REFUNDED"
    }

    struct Line: Codable, Sendable {
        let product: String
        /// The base plan or the purchase option.
        let plan: String
        let offer: String?
        let phase: String?
        let price: Int64
        let currency: String
        var quantity: Int64 = 1
        let starts: Instant?
        let ends: Instant?
    }

    struct PartialRefund: Codable, Sendable {
        let at: Instant
        let amount: Int64
    }

    package let id: String
    package let token: String
    package internal(set) var state: State
    let created: Instant
    var processed: Instant?
    var changed: Instant
    var lines: [Line]
    var partialRefunds: [PartialRefund] = []

    var total: Int64 { lines.reduce(0) { $0 + $1.price * $1.quantity } }
    var currency: String { lines.first?.currency ?? "USD" }
    /// The amount that has not been refunded yet.
    var left: Int64 { max(0, total - partialRefunds.reduce(0) { $0 + $1.amount }) }
}

/// An entry in the list of voided purchases.
package struct PlayVoid: Codable, Sendable {
    package enum Source: Int64, Codable, Sendable {
        case customer = 0
        case developer = 1
        case store = 2
    }
    static let unacknowledged: Int64 = 8

    let order: String
    let token: String
    let purchased: Instant
    let at: Instant
    let source: Source
    let reason: Int64
    let isSubscription: Bool
    /// The refunded quantity, if only part was refunded.
    let quantity: Int64?
}

/// A message from the store to the back end, which a real-time notification contains.
package struct PlayMessage: Codable, Hashable, Sendable {
    package enum Kind: String, Codable, Sendable {
        case recovered = "SUBSCRIPTION_RECOVERED"
        case renewed = "SUBSCRIPTION_RENEWED"
        case canceled = "SUBSCRIPTION_CANCELED"
        case purchased = "SUBSCRIPTION_PURCHASED"
        case onHold = "SUBSCRIPTION_ON_HOLD"
        case inGrace = "SUBSCRIPTION_IN_GRACE_PERIOD"
        case restarted = "SUBSCRIPTION_RESTARTED"
        case deferred = "SUBSCRIPTION_DEFERRED"
        case paused = "SUBSCRIPTION_PAUSED"
        case pauseChanged = "SUBSCRIPTION_PAUSE_SCHEDULE_CHANGED"
        case revoked = "SUBSCRIPTION_REVOKED"
        case expired = "SUBSCRIPTION_EXPIRED"
        case itemsChanged = "SUBSCRIPTION_ITEMS_CHANGED"
        case cancellationScheduled = "SUBSCRIPTION_CANCELLATION_SCHEDULED"
        case priceChanged = "SUBSCRIPTION_PRICE_CHANGE_UPDATED"
        case pendingCanceled = "SUBSCRIPTION_PENDING_PURCHASE_CANCELED"
        case productPurchased = "ONE_TIME_PRODUCT_PURCHASED"
        case productCanceled = "ONE_TIME_PRODUCT_CANCELED"
        case voided = "VOIDED_PURCHASE"
    }

    package let kind: Kind
    package let at: Instant
    package let token: String
    package let customer: String
    /// The order of a voided purchase, and whether only part of its quantity was refunded.
    package var order: String?
    package var isPartial: Bool?
}
