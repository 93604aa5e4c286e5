/// A request to a store, concerning one app.
package enum StoreCall: Hashable, Sendable {
    case transaction(TransactionID)
    /// How the customer who made a transaction obtained the app.
    case installation(of: TransactionID)
    /// The status of every subscription of the customer who made a transaction.
    case standings(of: TransactionID)
    /// The current state of a purchase, at a store that identifies purchases by tokens.
    case reading(token: String, of: TransactionID)
    /// Everything that the customer who made a transaction has ever bought, as the store now knows it.
    case history(of: TransactionID, HistoryFilter = HistoryFilter(), after: String? = nil)
    case refunds(of: TransactionID, after: String? = nil)
    /// The transactions under an order number from a receipt that the store mailed to the customer.
    case order(String)
    /// The notifications that the store has sent to this app's server.
    case notifications(NotificationFilter, after: String? = nil)
    case test
    case testResult(String)
    /// Only checks whether the store would answer requests about the app's purchases or orders.
    case probe(StoreProbe)
    case finish(TransactionID)
    case setToken(AccountToken, of: TransactionID)
    case extend(TransactionID, RenewalExtension)
    case extendAll(ProductID, RenewalExtension, countries: [String])
    case extendAllResult(ProductID, request: String)
    case consumption(ConsumptionReport, of: TransactionID)
}

/// The kinds of requests that a store can permit or refuse separately for a key.
package enum StoreProbe: String, Hashable, Sendable, CaseIterable {
    case purchases
    case orders
}

/// The part of a history to request.
package struct HistoryFilter: Hashable, Sendable {
    package var start: Instant?
    package var end: Instant?
    package var product: ProductID?
    package var isRevoked: Bool?

    package init() {}

    /// Whether the whole history is requested.
    package var isOpen: Bool { self == HistoryFilter() }
}

/// The store's notifications to request.
package struct NotificationFilter: Hashable, Sendable {
    package var start: Instant
    package var end: Instant
    package var transaction: TransactionID?
    package var type: String?
    package var onlyFailures = false

    package init(start: Instant, end: Instant) {
        self.start = start
        self.end = end
    }
}

/// A request to move a renewal date to a later day.
package struct RenewalExtension: Hashable, Sendable {
    package enum Why: Int64, Hashable, Sendable, CaseIterable {
        case undeclared = 0
        case satisfaction = 1
        case other = 2
        case outage = 3
    }
    package static let dayRange: ClosedRange<Int64> = 1...90

    package let days: Int64
    package let why: Why
    /// The id of the request. A store executes each request only once.
    package let request: String

    package init(days: Int64, why: Why, request: String) {
        self.days = days
        self.why = why
        self.request = request
    }
}

/// The report to the store about a purchase with a requested refund. Deed sends it only if the customer has consented.
package struct ConsumptionReport: Hashable, Sendable {
    package enum Delivery: String, Hashable, Sendable, CaseIterable {
        case delivered = "DELIVERED"
        case qualityIssue = "UNDELIVERED_QUALITY_ISSUE"
        case wrongItem = "UNDELIVERED_WRONG_ITEM"
        case serverOutage = "UNDELIVERED_SERVER_OUTAGE"
        case other = "UNDELIVERED_OTHER"
    }

    package let delivery: Delivery
    package let hasSample: Bool
    /// How much was used, in thousandths of a percent.
    package let used: Int64?
    package let preference: RefundPreference?

    package init(
        delivery: Delivery, hasSample: Bool, used: Int64? = nil,
        preference: RefundPreference? = nil
    ) {
        self.delivery = delivery
        self.hasSample = hasSample
        self.used = used
        self.preference = preference
    }
}

extension StoreCall {
    package var isOrder: Bool {
        if case .order = self { true } else { false }
    }

    /// Returns the same call for the page after `token`; `nil` for calls without pages.
    package func page(after token: String?) -> StoreCall? {
        switch self {
        case .history(let id, let filter, _): .history(of: id, filter, after: token)
        case .refunds(let id, _): .refunds(of: id, after: token)
        case .notifications(let filter, _): .notifications(filter, after: token)
        default: nil
        }
    }
}
