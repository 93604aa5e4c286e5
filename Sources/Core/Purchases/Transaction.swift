/// The members of one transaction that the rules of access need.
///
/// Kept next to the evidence because each read needs it for every transaction: all of its members are
/// plain values, and the product is an index into the purchase's list of products.
struct Transaction: Hashable, Sendable {
    /// The last bytes of its id, a quick way to tell most transactions apart.
    let tail: UInt64
    let product: Int
    let kind: ProductKind?
    let start: Instant
    /// The start of the purchase that this restores, if the evidence names it; otherwise its own
    /// start.
    let firstPurchased: Instant
    let expires: Instant?
    let revokedAt: Instant?
    let isRevokedForApp: Bool
    let isUpgraded: Bool
    /// When the store last signed it. Receipts do not count, because what they leave out means
    /// nothing.
    let vouchedAt: Instant?
    let isFamilyShared: Bool
    let isSandbox: Bool
    let isLastOfCommitment: Bool
    /// Whether its product stands for other items; the evidence lists them.
    let hasItems: Bool
    let terms: OfferTerms
    /// The last time, before it began, at which the store announced that its product starts with
    /// the next renewal.
    let announcedAt: Instant?
    /// Whether readings tell of it: then they also tell what ended it.
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

/// The terms of a period's sale; the digit is the second part of a reason code.
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
