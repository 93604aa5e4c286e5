/// The members of one transaction that the access rules need.
///
/// They are kept beside the evidence because each read needs them for every transaction. All
/// members are plain values. The product is an index into the purchase's list of products.
struct Transaction: Hashable, Sendable {
    /// The last bytes of the id. They are usually sufficient to distinguish transactions quickly.
    let tail: UInt64
    let product: Int
    let kind: ProductKind?
    let start: Instant
    /// When the purchase that this transaction restores started, if the evidence names it.
    /// Otherwise, when this transaction started.
    let firstPurchased: Instant
    let expires: Instant?
    let revokedAt: Instant?
    let isRevokedForApp: Bool
    let isUpgraded: Bool
    /// When the store last signed the transaction. Receipts do not count, because a receipt's omissions mean nothing.
    let vouchedAt: Instant?
    let isFamilyShared: Bool
    let isSandbox: Bool
    let isLastOfCommitment: Bool
    /// Whether the product represents other items, which are listed in the evidence.
    let hasItems: Bool
    let terms: OfferTerms
    /// When the store last announced, before this transaction began, that the next renewal would start its product.
    let announcedAt: Instant?
    /// Whether the transaction is derived from readings, which also show what ended it.
    let isRead: Bool

    init(
        _ fact: TransactionFact, product: Int, announcedAt: Instant? = nil, isRead: Bool = false
    ) {
        self.product = product
        self.announcedAt = announcedAt
        self.isRead = isRead
        tail = fact.transaction.tail
        kind = fact.kind
        start = fact.purchased
        firstPurchased = min(fact.purchased, fact.originallyPurchased ?? fact.purchased)
        expires = fact.expires
        revokedAt = fact.revocation?.at
        isRevokedForApp = fact.revocation?.reason == .issueWithApp
        isUpgraded = fact.isUpgraded
        vouchedAt = fact.rank.isLegacy ? nil : fact.signedAt
        isFamilyShared = fact.ownership == .familyShared
        isSandbox = fact.environment == .sandbox
        isLastOfCommitment = fact.commitment?.isLastPeriod ?? false
        hasItems = !fact.items.isEmpty
        terms = OfferTerms(fact.offer)
    }
}

/// The terms under which a period was sold. The raw value is the second part of a reason code.
package enum OfferTerms: Int, Hashable, Sendable {
    case usual = 0
    case trial = 1
    case introductory = 2
    case offer = 3

    package init(_ offer: Offer?) {
        guard let offer, offer != Offer() else {
            self = .usual
            return
        }
        if offer.discount == .freeTrial {
            self = .trial
        } else {
            self = offer.kind == .introductory ? .introductory : .offer
        }
    }
}
