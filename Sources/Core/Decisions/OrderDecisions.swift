/// A request to announce a purchase.
package struct OpenOrder: Hashable, Sendable {
    package let order: OrderID
    /// A token that has never been used before.
    package let token: AccountToken
    package let product: ProductID?
    /// How long to wait for the purchase; `nil` to use the project's setting.
    package let lifetime: CalendarDuration?

    package init(
        order: OrderID, token: AccountToken, product: ProductID?, lifetime: CalendarDuration?
    ) {
        self.order = order
        self.token = token
        self.product = product
        self.lifetime = lifetime
    }
}

/// A request to stop waiting for an order's purchase.
package struct CloseOrder: Hashable, Sendable {
    package let order: OrderID
    package let cause: OrderClosed.Cause

    package init(order: OrderID, cause: OrderClosed.Cause) {
        self.order = order
        self.cause = cause
    }
}

extension CustomerState {
    package static let openOrderLimit = 100

    /// Announces a purchase.
    package func decide(
        _ wish: OpenOrder, settings: ProjectSettings, now: Instant
    ) throws(Refusal) -> [Event] {
        if orders.count(where: { $0.state(at: now) == .open }) >= CustomerState.openOrderLimit {
            throw .order(.tooMany(limit: CustomerState.openOrderLimit))
        }
        if order(wish.order) != nil { throw .order(.exists) }
        try wish.order.requireProperForm()
        let lifetime = wish.lifetime ?? settings.orderLifetime
        if !lifetime.isWaitable { throw .waitTooLong(days: CalendarDuration.waitLimit) }
        return [
            .orderOpened(
                OrderOpened(
                    order: wish.order, token: wish.token, product: wish.product, openedAt: now,
                    expires: lifetime.end(after: now)))
        ]
    }

    /// Closes the order. Does nothing if it is already closed. Support may still settle an order
    /// that was closed for another reason, unless its purchase has arrived.
    package func decide(_ wish: CloseOrder, now: Instant) throws(Refusal) -> [Event] {
        guard let order = order(wish.order) else { throw .order(.unknown(wish.order)) }
        if order.fulfilled != nil { throw .order(.fulfilled(wish.order)) }
        if order.closed != nil {
            guard case .settled = wish.cause, !order.isSettled else { return [] }
        }
        return [.orderClosed(OrderClosed(order: wish.order, cause: wish.cause, at: now))]
    }

    /// Closes every expired order.
    package func closingStaleOrders(now: Instant) -> [Event] {
        orders.filter { $0.isOpen && $0.opened.expires <= now }.map {
            .orderClosed(OrderClosed(order: $0.id, cause: .stale, at: now))
        }
    }

    /// Returns an event if the fact fulfils the order that it names. The first transaction with the order's token
    /// belongs to the order, even if the order was closed. Renewals carry the same token, but do not fulfil the order
    /// again.
    func fulfilment(by fact: TransactionFact) -> Event? {
        guard let token = fact.accountToken.flatMap(AccountToken.init),
            let order = orders.first(where: { $0.opened.token == token }), order.fulfilled == nil
        else { return nil }
        return .orderFulfilled(
            OrderFulfilled(
                order: order.id, purchase: fact.purchase, transaction: fact.transaction))
    }

    /// Returns the order that support settled before its transaction arrived. The client has to finish the
    /// transaction, which is not credited.
    package func settledOrder(of transaction: TransactionID, _ purchase: PurchaseID) -> Order? {
        orders.first {
            $0.isSettled && $0.fulfilled?.transaction == transaction
                && $0.fulfilled?.purchase == purchase
        }
    }

    func isSettledByHand(_ transaction: TransactionID, of purchase: PurchaseID) -> Bool {
        settledOrder(of: transaction, purchase) != nil
    }
}
