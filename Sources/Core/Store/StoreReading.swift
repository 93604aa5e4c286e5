/// Up to where the store's history of a purchase was read, so that the next time only what changed is.
package struct HistoryMark: Hashable, Sendable {
    /// The part of the history that was asked for: what was bought since then.
    package var since: Instant?
    /// The store's name for the place up to which it was read; it goes with that part alone.
    package var revision: String?
    /// The store does not know the purchase, and is not asked again before.
    package var restsUntil: Instant?

    package init(since: Instant? = nil, revision: String? = nil, restsUntil: Instant? = nil) {
        self.since = since
        self.revision = revision
        self.restsUntil = restsUntil
    }
}

/// A purchase as one of the store's environments has it.
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

/// What a store is to be asked for: the whole history of a customer, whom it knows by a purchase.
package struct HistoryQuestion: Hashable, Sendable {
    package let place: StorePurchase
    /// Who held the purchase when the question came up.
    package let customer: CustomerID
    /// When the customer's newest purchase was made. The newest are asked about first.
    package let newestAt: Instant
    /// Why something is known to be missing; `nil` where it is only asked in its turn.
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

/// How many histories of an app's customers are still to be asked for.
package struct HistoryCount: Hashable, Sendable {
    package var ofEnvironment: [Environment: Int64] = [:]
    /// Of how many something is known to be missing.
    package var missing: Int64 = 0

    package init() {}

    package var all: Int64 { ofEnvironment.values.reduce(0, +) }
}

/// Asking for the history of every customer with a purchase of an app.
package struct HistoryRound: Hashable, Sendable {
    /// Whether there is a question for each customer who was known when it began.
    package var isFilled = false
    /// Whether it began by itself, and takes its time.
    package var isSlow: Bool
    /// Whether each question of some round of the app was answered.
    package var wasWhole: Bool

    package init(isFilled: Bool = false, isSlow: Bool, wasWhole: Bool) {
        self.isFilled = isFilled
        self.isSlow = isSlow
        self.wasWhole = wasWhole
    }
}

/// A customer about whose subscriptions the store is to be asked.
package struct DueInquiry: Hashable, Sendable {
    package let stream: Stream
    package let at: Instant

    package init(stream: Stream, at: Instant) {
        self.stream = stream
        self.at = at
    }
}
