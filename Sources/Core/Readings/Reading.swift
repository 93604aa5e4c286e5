/// What a store answered when it was asked about one purchase token: the whole of it, as it was then.
///
/// It comes with a `TransactionFact`, which says of what purchase it is, and when the store was asked.
package struct Reading: Hashable, Sendable {
    package enum State: Hashable, Sendable {
        /// A subscription that gives access, and renews unless its items say otherwise.
        case active
        /// The same, although a payment failed.
        case grace
        /// A payment failed, and nothing is given until it succeeds.
        case onHold
        /// The customer paused the subscription.
        case paused
        /// It gives access to its end, and does not renew.
        case cancelled
        case expired
        /// Something that was bought once, and paid.
        case purchased
        /// Something that was bought once, and taken back.
        case takenBack
        /// One that this release does not know.
        case unknown(StoreWord)
    }

    package enum Ending: String, Hashable, Sendable, CaseIterable {
        case byCustomer = "customer"
        case bySystem = "system"
        case byDeveloper = "developer"
        case replaced
    }

    /// The store is asked by it. It is half a secret, and may be longer than an id.
    package var token: String
    /// What a purchase is called that begins with the token.
    package var tokenName: TransactionID
    /// The same of the token that this one continues.
    package var continues: TransactionID?
    package var state: State
    /// When the right under this token began.
    package var startedAt: Instant?
    package var items: [Item]
    /// Why it does not renew, or has ended.
    package var ending: Ending?
    package var cancelledAt: Instant?
    package var resumesAt: Instant?
    /// The order whose payment fails.
    package var declinedOrder: String?
    package var isAcknowledged = false
    /// The store's mark of this state of the purchase; another state has another one.
    package var mark: String?
    package var region: String?
    /// The app's names for the account and a profile in it, beside the account token of the fact.
    package var profile: String?
    package var linkedAccount: String?
    /// The expired purchase of a customer who came back in the store's own screens.
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
    /// One product of a purchase.
    package struct Item: Hashable, Sendable {
        package var product: ProductID
        /// The newest order that was paid; an item of a subscription without one is not owned yet.
        package var order: TransactionID?
        package var isOwned: Bool
        package var expires: Instant?
        /// Whether it was bought for a time, without renewal.
        package var isPrepaid = false
        package var willRenew = false
        /// The product that takes its place when the period ends.
        package var nextProduct: ProductID?
        /// Whether it alone ends with the period.
        package var isRemoved = false
        package var basePlan: String?
        package var offer: Offer?
        package var price: Price?
        package var priceConsent: PriceConsent?
        package var instalments: Instalments?
        package var quantity: Int64 = 1
        /// How many of them were not refunded; `nil` if the store did not say.
        package var refundable: Int64?
        package var isConsumed = false
        /// Whether the right to something that was bought once ends by time.
        package var isRented = false
        /// When something that was ordered in advance can be used.
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

    /// A promise to pay for several months in a row.
    package struct Instalments: Hashable, Sendable {
        package let payments: Int64
        package let paymentsLeft: Int64
        package let laterPayments: Int64?
        /// Whether the customer has cancelled, and the commitment still runs.
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

    /// Whether anything is owned by it, as far as this release understands.
    package var isOwned: Bool { isKnown && items.contains(where: \.isOwned) }
}

extension Reading {
    /// The first item that is owned, or else the first one.
    package var mainItem: Item? { items.first(where: \.isOwned) ?? items.first }
}

extension ProductID {
    /// In place of the product of an answer that names none.
    package static let ofNothing = ProductID(known: "none")
}

extension Reading.State {
    /// Its name in answers.
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
