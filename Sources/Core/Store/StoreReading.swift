/// How far the store's history of a purchase has been read. The next reading then covers only changes.
package struct HistoryMark: Hashable, Sendable {
    /// The requested part of the history: purchases made since this instant. For a store that states
    /// the current state of purchases, the last instant at which it only repeated known facts.
    package var since: Instant?
    /// The store's marker for how far the history was read. It applies only to the requested part.
    package var revision: String?
    /// The instant before which the store is not asked again, because it did not know the purchase or only repeated
    /// known facts.
    package var restsUntil: Instant?

    package init(since: Instant? = nil, revision: String? = nil, restsUntil: Instant? = nil) {
        self.since = since
        self.revision = revision
        self.restsUntil = restsUntil
    }
}

/// A purchase in one of the store's environments.
package struct StorePurchase: Hashable, Sendable {
    package let app: StoreApp
    package let environment: Environment
    package let purchase: PurchaseID

    package init(app: StoreApp, environment: Environment, purchase: PurchaseID) {
        self.app = app
        self.environment = environment
        self.purchase = purchase
    }
}

/// A request for a customer's whole history. The store identifies the customer by a purchase.
package struct HistoryQuestion: Hashable, Sendable {
    package let place: StorePurchase
    /// The holder of the purchase when the request was made.
    package let customer: CustomerID
    /// When the customer's newest purchase was made. Customers with the newest purchases are
    /// processed first.
    package let newestAt: Instant
    /// Why part of the history is known to be missing; `nil` for a routine request.
    package var obstacle: String?

    package init(
        _ place: StorePurchase, of customer: CustomerID, newestAt: Instant, obstacle: String?
    ) {
        self.place = place
        self.customer = customer
        self.newestAt = newestAt
        self.obstacle = obstacle
    }
}

/// How many customers' histories still have to be requested for an app.
package struct HistoryCount: Hashable, Sendable {
    package var ofEnvironment: [Environment: Int64] = [:]
    /// How many of these histories are known to have gaps.
    package var missing: Int64 = 0

    package init() {}

    package var all: Int64 { ofEnvironment.values.reduce(0, +) }
}

/// A round of requests that covers the history of each customer with a purchase in an app.
package struct HistoryRound: Hashable, Sendable {
    /// Whether the round contains a request for each customer who was known when it began.
    package var isFilled = false
    /// Whether the round started automatically and therefore runs slowly.
    package var isSlow: Bool
    /// Whether the store has ever answered every request of a round for the app.
    package var wasWhole: Bool

    package init(isFilled: Bool = false, isSlow: Bool, wasWhole: Bool) {
        self.isFilled = isFilled
        self.isSlow = isSlow
        self.wasWhole = wasWhole
    }
}

/// A customer about whose subscriptions the store should be asked.
package struct DueInquiry: Hashable, Sendable {
    package let stream: Stream
    package let at: Instant

    package init(stream: Stream, at: Instant) {
        self.stream = stream
        self.at = at
    }
}
