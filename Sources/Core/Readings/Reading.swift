/// A store's complete answer about one purchase token, as of the time of the question.
///
/// It comes with a `TransactionFact`, which names the purchase and that time.
package struct Reading: Hashable, Sendable {
    package enum State: Hashable, Sendable {
        /// The subscription gives access, and renews unless its items say otherwise.
        case active
        /// The subscription gives access although a payment failed.
        case grace
        /// A payment failed, and the subscription gives no access until a payment succeeds.
        case onHold
        /// The customer paused the subscription.
        case paused
        /// The subscription gives access until its end but does not renew.
        case cancelled
        case expired
        /// A one-time purchase that has been paid for.
        case purchased
        /// A one-time purchase that has been revoked.
        case takenBack
        /// A state unknown to this release.
        case unknown(StoreWord)
    }

    package enum Ending: String, Hashable, Sendable, CaseIterable {
        case byCustomer = "customer"
        case bySystem = "system"
        case byDeveloper = "developer"
        case replaced
    }

    /// The token used to ask the store. A token is sensitive, and may be longer than an id.
    package var token: String
    /// The id of the purchase that begins with this token.
    package var tokenName: TransactionID
    /// The id of the purchase that begins with the token that this one continues.
    package var continues: TransactionID?
    package var state: State
    /// When the right given by this token began.
    package var startedAt: Instant?
    package var items: [Item]
    /// Why the subscription does not renew or has ended.
    package var ending: Ending?
    package var cancelledAt: Instant?
    package var resumesAt: Instant?
    /// The order whose payment is currently failing.
    package var declinedOrder: String?
    package var isAcknowledged = false
    /// The store's mark for this state of the purchase. Every other state has a different mark.
    package var mark: String?
    package var region: String?
    /// The app's name for a profile in the customer's account. The account token is in the fact.
    package var profile: String?
    package var linkedAccount: String?
    /// The customer's expired purchase, if the customer resubscribed on the store's own screens.
    package var comesBack: Return?

    package struct Return: Hashable, Sendable {
        package var token: String?
        package var account: String?
        package var profile: String?
        package var linkedAccount: String?

        package init(token: String?, account: String?, profile: String?, linkedAccount: String?) {
            self.token = token
            self.account = account
            self.profile = profile
            self.linkedAccount = linkedAccount
        }
    }

    package init(
        token: String, name: TransactionID, _ state: State, startedAt: Instant?, items: [Item] = []
    ) {
        self.token = token
        tokenName = name
        self.state = state
        self.startedAt = startedAt
        self.items = items
    }
}

extension Reading {
    /// One product in a purchase.
    package struct Item: Hashable, Sendable {
        package var product: ProductID
        /// The newest paid order. A subscription item without such an order is not owned yet.
        package var order: TransactionID?
        package var isOwned: Bool
        package var expires: Instant?
        /// Whether the item was bought for a fixed time, without renewal.
        package var isPrepaid = false
        package var willRenew = false
        /// The product that replaces the item when the period ends.
        package var nextProduct: ProductID?
        /// Whether this item ends with the period although other items continue.
        package var isRemoved = false
        package var basePlan: String?
        package var offer: Offer?
        package var price: Price?
        package var priceConsent: PriceConsent?
        package var instalments: Instalments?
        package var quantity: Int64 = 1
        /// How many units have not been refunded; `nil` if the store did not say.
        package var refundable: Int64?
        package var isConsumed = false
        /// Whether a one-time purchase gives its right only for a limited time.
        package var isRented = false
        /// When a pre-ordered item becomes usable.
        package var releasedAt: Instant?
        package var isOrderedInAdvance = false

        package init(_ product: ProductID, order: TransactionID?, isOwned: Bool, expires: Instant?)
        {
            self.product = product
            self.order = order
            self.isOwned = isOwned
            self.expires = expires
        }
    }

    /// A promise to pay for several consecutive months.
    package struct Instalments: Hashable, Sendable {
        package let payments: Int64
        package let paymentsLeft: Int64
        package let laterPayments: Int64?
        /// Whether the customer has cancelled during the commitment.
        package let endsWithCommitment: Bool

        package init(
            payments: Int64, paymentsLeft: Int64, laterPayments: Int64?, endsWithCommitment: Bool
        ) {
            self.payments = payments
            self.paymentsLeft = paymentsLeft
            self.laterPayments = laterPayments
            self.endsWithCommitment = endsWithCommitment
        }
    }
}

extension Reading {
    /// The names under which a purchase with this token may be known.
    package var names: [TransactionID] { [tokenName] + (continues.map { [$0] } ?? []) }

    package var isKnown: Bool { if case .unknown = state { false } else { true } }

    /// Whether the customer owns any of the items, as far as this release understands the answer.
    package var isOwned: Bool { isKnown && items.contains(where: \.isOwned) }
}

extension Reading {
    /// The first owned item, or the first item if none is owned.
    package var mainItem: Item? { items.first(where: \.isOwned) ?? items.first }
}

extension ProductID {
    /// The product of an answer that names none.
    package static let ofNothing = ProductID(known: "none")
}

extension Reading.State {
    /// The name of the state in answers.
    package var name: String {
        switch self {
        case .active: "active"
        case .grace: "grace"
        case .onHold: "on_hold"
        case .paused: "paused"
        case .cancelled: "cancelled"
        case .expired: "expired"
        case .purchased: "purchased"
        case .takenBack: "taken_back"
        case .unknown(let word): "unknown_\(word)"
        }
    }
}
