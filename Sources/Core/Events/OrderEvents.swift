/// The back end announced a purchase before it happens.
package struct OrderOpened: Hashable, Sendable {
    package let order: OrderID
    package let token: AccountToken
    package let product: ProductID?
    package let openedAt: Instant
    /// When it is stale.
    package let expires: Instant

    package init(
        order: OrderID, token: AccountToken, product: ProductID?, openedAt: Instant,
        expires: Instant
    ) {
        self.order = order
        self.token = token
        self.product = product
        self.openedAt = openedAt
        self.expires = expires
    }
}

/// The announced purchase happened.
package struct OrderFulfilled: Hashable, Sendable {
    package let order: OrderID
    package let purchase: PurchaseID
    package let transaction: TransactionID

    package init(order: OrderID, purchase: PurchaseID, transaction: TransactionID) {
        self.order = order
        self.purchase = purchase
        self.transaction = transaction
    }
}

/// The order no longer waits for its purchase.
package struct OrderClosed: Hashable, Sendable {
    package enum Cause: Hashable, Sendable {
        case stale
        case cancelled(Reason, ticket: Ticket?)
        /// Support gave by other means what the purchase would have brought.
        case settled(Reason, ticket: Ticket?)
    }
    package let order: OrderID
    package let cause: Cause
    package let at: Instant

    package init(order: OrderID, cause: Cause, at: Instant) {
        self.order = order
        self.cause = cause
        self.at = at
    }
}

/// The back end told that a token is the customer's, and with it every purchase that carries it.
package struct TokenRegistered: Hashable, Sendable {
    package let token: AccountToken

    package init(token: AccountToken) {
        self.token = token
    }
}
