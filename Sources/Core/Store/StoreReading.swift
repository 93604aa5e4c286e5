/// How far the store's history of a purchase was read, so that the next reading covers only changes.
package struct HistoryMark: Hashable, Sendable {
    /// The requested part of the history: what was bought since then. At a store that states purchases as they are now,
    /// when it last said only what was known.
    package var since: Instant?
    /// The store's name for the place up to which it was read; it applies only to that part.
    package var revision: String?
    /// The store does not know the purchase, or said only what was known; do not ask again before then.
    package var restsUntil: Instant?

    package init(since: Instant? = nil, revision: String? = nil, restsUntil: Instant? = nil) {
        self.since = since
        self.revision = revision
        self.restsUntil = restsUntil
    }
}

/// A purchase as one of the store's environments knows it.
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

/// An inquiry to a store: the whole history of a customer, whom the store knows by a purchase.
package struct HistoryQuestion: Hashable, Sendable {
    package let place: StorePurchase
    /// Who held the purchase when the inquiry was made.
    package let customer: CustomerID
    /// When the customer's newest purchase was made. Customers with the newest purchases come
    /// first.
    package let newestAt: Instant
    /// Why something is known to be missing; `nil` for a routine inquiry.
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

/// How many histories of an app's customers are still to be requested.
package struct HistoryCount: Hashable, Sendable {
    package var ofEnvironment: [Environment: Int64] = [:]
    /// How many of them are known to lack something.
    package var missing: Int64 = 0

    package init() {}

    package var all: Int64 { ofEnvironment.values.reduce(0, +) }
}

/// A round of inquiries: the history of every customer with a purchase in an app.
package struct HistoryRound: Hashable, Sendable {
    /// Whether it has an inquiry for each customer who was known when it began.
    package var isFilled = false
    /// Whether it began by itself and runs slowly.
    package var isSlow: Bool
    /// Whether some round of the app had all its inquiries answered.
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
