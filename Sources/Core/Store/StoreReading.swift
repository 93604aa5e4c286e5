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

/// A customer about whose subscriptions the store is to be asked.
package struct DueInquiry: Hashable, Sendable {
    package let stream: Stream
    package let at: Instant

    package init(stream: Stream, at: Instant) {
        self.stream = stream
        self.at = at
    }
}

/// What a command would lead to.
package struct Rehearsal: Sendable {
    package let items: [ItemOutcome]
    /// Each customer whom it would change, as it would be then.
    package let customers: [CustomerState]

    package init(items: [ItemOutcome], customers: [CustomerState]) {
        self.items = items
        self.customers = customers
    }
}
