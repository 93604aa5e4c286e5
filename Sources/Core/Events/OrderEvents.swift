/// The back end announced a purchase in advance.
package struct OrderOpened: EventContent {
    package let order: OrderID
    package let token: AccountToken
    package let product: ProductID?
    package let openedAt: Instant
    package let expires: Instant
    package var subject: EventSubject { .order(order) }

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
package struct OrderFulfilled: EventContent {
    package let order: OrderID
    package let purchase: PurchaseID
    package let transaction: TransactionID
    package var subject: EventSubject { .order(order) }

    package init(order: OrderID, purchase: PurchaseID, transaction: TransactionID) {
        self.order = order
        self.purchase = purchase
        self.transaction = transaction
    }
}

/// The order no longer waits for its purchase.
package struct OrderClosed: EventContent {
    package enum Cause: Hashable, Sendable {
        case stale
        case cancelled(Reason, ticket: Ticket?)
        /// Support gave the customer by other means what the purchase would have given.
        case settled(Reason, ticket: Ticket?)
    }
    package let order: OrderID
    package let cause: Cause
    package let at: Instant
    package var subject: EventSubject { .order(order) }

    package init(order: OrderID, cause: Cause, at: Instant) {
        self.order = order
        self.cause = cause
        self.at = at
    }
}

/// The back end registered a token as the customer's. Every purchase that carries the token belongs
/// to that customer.
package struct TokenRegistered: EventContent {
    package let token: AccountToken
    package var subject: EventSubject { .token(token) }

    package init(token: AccountToken) {
        self.token = token
    }
}

extension EventType {
    static let orders: EventFamily = [
        .orderOpened: .ofCustomer("order.opened", "The order {order} was opened"),
        .orderFulfilled: .ofCustomer(
            "order.fulfilled", "The order {order} was fulfilled by {purchase}"),
        .orderClosed: .ofCustomer("order.closed", "The order {order} was closed", isAct: true),
        .tokenRegistered: .ofCustomer(
            "token.registered", "The account token {token} was registered"),
    ]
}
