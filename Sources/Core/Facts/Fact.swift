/// The kind of a purchase.
package enum ProductKind: String, Hashable, Sendable, CaseIterable {
    case consumable
    case nonConsumable = "non_consumable"
    case nonRenewing = "non_renewing"
    case autoRenewable = "auto_renewable"
}

/// The strength of evidence. If the signing times are equal, the evidence with the higher rank prevails.
package enum Rank: Int64, Hashable, Comparable, Sendable, CaseIterable {
    case offlineReceipt = 1
    case verifyReceiptReply = 2
    case clientTransaction = 3
    case notification = 4
    case serverAPI = 5

    package static func < (one: Rank, other: Rank) -> Bool { one.rawValue < other.rawValue }

    /// The rank's name in the log and in answers.
    package var word: String {
        switch self {
        case .offlineReceipt: "offline_receipt"
        case .verifyReceiptReply: "verify_receipt_reply"
        case .clientTransaction: "client_transaction"
        case .notification: "notification"
        case .serverAPI: "server_api"
        }
    }
}

/// The purchase to which a fact belongs. A purchase is everything with the same original transaction.
package struct PurchaseID: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let store: Store
    package let original: TransactionID

    package init(store: Store, original: TransactionID) {
        self.store = store
        self.original = original
    }

    /// Reads a string such as `apple:2000000123`. The store's name ends at the first colon.
    package init?(_ text: String) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let store = Store(rawValue: String(parts[0])),
            let original = try? TransactionID(String(parts[1]))
        else { return nil }
        self.init(store: store, original: original)
    }

    package var description: String { "\(store.rawValue):\(original)" }

    package static func < (one: Self, other: Self) -> Bool {
        one.store == other.store
            ? one.original < other.original : one.store.rawValue < other.store.rawValue
    }
}

/// What verified evidence states about one transaction.
package struct TransactionFact: Hashable, Sendable {
    package var store: Store
    package var environment: Environment
    package var app: AppID
    package var transaction: TransactionID
    package var original: TransactionID
    package var product: ProductID
    /// `nil` for legacy evidence that does not state the kind. The catalog then determines it.
    package var kind: ProductKind?
    /// The store's word for a kind unknown to this release. The catalog then determines the kind.
    package var unknownKind: StoreWord?
    package var purchased: Instant
    package var originallyPurchased: Instant?
    package var expires: Instant?
    package var quantity: Int64
    package var revocation: Revocation?
    package var isUpgraded: Bool
    package var offer: Offer?
    package var ownership: Ownership
    package var accountToken: String?
    package var appTransaction: AppTransactionID?
    package var price: Price?
    /// The store's name for the subscription group.
    package var group: String?
    /// The store's name for one period of a subscription. All evidence for the period uses the same
    /// name.
    package var lineItem: String?
    /// The purchase that this one continues, if a bundle or a move gave it a new id.
    package var previousOriginal: TransactionID?
    /// The position of the period in a commitment to several periods.
    package var commitment: Commitment?
    /// The items sold; empty unless the product only represents other products.
    package var items: [SoldItem]
    /// How many of the units were refunded, if the store counts them.
    package var refundedQuantity: Int64?
    /// The complete answer of a store that states the current state of its purchases. The other
    /// members then describe the first item in the answer.
    var answer: Shared<Reading>?
    package var signedAt: Instant
    package var rank: Rank

    package init(
        store: Store, environment: Environment, app: AppID, transaction: TransactionID,
        original: TransactionID, product: ProductID, purchased: Instant, signedAt: Instant,
        rank: Rank
    ) {
        self.store = store
        self.environment = environment
        self.app = app
        self.transaction = transaction
        self.original = original
        self.product = product
        self.purchased = purchased
        self.signedAt = signedAt
        self.rank = rank
        quantity = 1
        isUpgraded = false
        ownership = .purchased
        items = []
    }

    package var purchase: PurchaseID { PurchaseID(store: store, original: original) }

    /// The store's answer, if the store states the current state of its purchases.
    package var reading: Reading? {
        get { answer?.value }
        set { answer = newValue.map(Shared.init) }
    }

    /// The purchase that this one continues.
    package var previous: PurchaseID? {
        previousOriginal.map { PurchaseID(store: store, original: $0) }
    }
}

/// What verified evidence states about the next renewal of one subscription.
package struct RenewalFact: Hashable, Sendable {
    package var store: Store
    package var environment: Environment
    package var app: AppID
    package var original: TransactionID
    package var product: ProductID?
    package var willRenew: Bool
    package var nextProduct: ProductID?
    package var isInBillingRetry: Bool
    /// Whether the customer paused the subscription. If so, `renewsAt` is the end of the pause.
    package var isPaused = false
    package var graceUntil: Instant?
    package var expirationIntent: ExpirationIntent?
    package var priceConsent: PriceConsent?
    package var renewsAt: Instant?
    package var offer: Offer?
    package var accountToken: String?
    /// Whether another commitment follows the current one.
    package var willCommitAgain: Bool?
    package var signedAt: Instant
    package var rank: Rank

    package init(
        store: Store, environment: Environment, app: AppID, original: TransactionID,
        willRenew: Bool, signedAt: Instant, rank: Rank
    ) {
        self.store = store
        self.environment = environment
        self.app = app
        self.original = original
        self.willRenew = willRenew
        self.signedAt = signedAt
        self.rank = rank
        isInBillingRetry = false
    }

    package var purchase: PurchaseID { PurchaseID(store: store, original: original) }
}

/// What verified evidence states about a customer's copy of an app: the version first installed,
/// and the time of installation.
package struct AppFact: Hashable, Sendable {
    package var store: Store
    package var environment: Environment
    package var app: AppID
    package var originalVersion: String
    package var originallyPurchased: Instant?
    package var appTransaction: AppTransactionID?
    package var signedAt: Instant
    package var rank: Rank

    package init(
        store: Store, environment: Environment, app: AppID, originalVersion: String,
        originallyPurchased: Instant?, signedAt: Instant, rank: Rank
    ) {
        self.store = store
        self.environment = environment
        self.app = app
        self.originalVersion = originalVersion
        self.originallyPurchased = originallyPurchased
        self.signedAt = signedAt
        self.rank = rank
    }
}

/// Everything that one piece of verified evidence states.
package struct Facts: Hashable, Sendable {
    package var transactions: [TransactionFact] = []
    package var renewals: [RenewalFact] = []
    package var apps: [AppFact] = []
    package var refunds: [RefundFact] = []
    package var consents: [ConsentFact] = []
    package init() {}
}

/// A store's revocation of a transaction, or of a family member's access to the transaction.
package struct Revocation: Hashable, Sendable {
    package enum Reason: Hashable, Sendable {
        case other
        case issueWithApp
        case unknown(StoreWord)
    }
    package enum Extent: Hashable, Sendable {
        case full
        case prorated
        case family
        case unknown(StoreWord)
    }
    package var at: Instant
    package var reason: Reason?
    package var extent: Extent?
    /// The refunded share, in thousandths of a percent.
    package var milliPercent: Int64?

    package init(at: Instant) {
        self.at = at
    }
}

/// The terms of a period, if they differ from the regular terms.
package struct Offer: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case introductory
        case promotional
        case code
        case winBack
        case unknown(StoreWord)
    }
    package enum Discount: Hashable, Sendable {
        case freeTrial
        case payAsYouGo
        case payUpFront
        case oneTime
        case unknown(StoreWord)
    }
    package var kind: Kind?
    package var discount: Discount?
    package var identifier: String?
    package var period: String?

    package init(kind: Kind? = nil, discount: Discount? = nil) {
        self.kind = kind
        self.discount = discount
    }
}

/// One of the items sold in a transaction whose product represents all of these items.
package struct SoldItem: Hashable, Sendable {
    package let product: ProductID
    /// When the item was revoked, either alone or together with the others.
    package let revokedAt: Instant?

    package init(_ product: ProductID, revokedAt: Instant? = nil) {
        self.product = product
        self.revokedAt = revokedAt
    }
}

/// A promise to pay for several consecutive periods, each at its start. Access is given period by
/// period.
package struct Commitment: Hashable, Sendable {
    /// The number of the period, counted from 1.
    package let period: Int64
    package let periods: Int64
    /// When the last period ends, unless a payment is late.
    package let ends: Instant

    package init(period: Int64, periods: Int64, ends: Instant) {
        self.period = period
        self.periods = periods
        self.ends = ends
    }

    package var isLastPeriod: Bool { period >= periods }
}

package enum Ownership: Hashable, Sendable {
    case purchased
    case familyShared
    case unknown(StoreWord)
}

/// An amount of money in thousandths of the currency unit.
package struct Price: Hashable, Sendable {
    package var milliunits: Int64
    package var currency: String?

    package init(milliunits: Int64, currency: String?) {
        self.milliunits = milliunits
        self.currency = currency
    }
}

package enum ExpirationIntent: Hashable, Sendable {
    case cancelled
    case billingError
    case priceIncreaseRefused
    case productUnavailable
    case other
    case unknown(StoreWord)
}

package enum PriceConsent: Hashable, Sendable {
    case pending
    case given
    case unknown(StoreWord)
}
