/// An order named by the sender of evidence, and the transaction that fulfils the order. Needed
/// because legacy evidence contains no token that leads to the order.
package struct NamedOrder: Hashable, Sendable {
    let order: OrderID
    let purchase: PurchaseID
    let transaction: TransactionID

    /// How far the store's clock may be behind Deed's clock.
    static let clockTolerance: Int64 = 5 * 60 * 1000
}

extension Order {
    /// Returns the transaction that fulfils the order: the first transaction for the order's product that was made
    /// after the order was opened and fulfils no other order. A receipt also lists many older transactions.
    func fulfilment(
        among facts: some Sequence<TransactionFact>, of state: CustomerState
    ) -> NamedOrder? {
        if fulfilled != nil { return nil }
        let start = opened.openedAt.advanced(byMilliseconds: -NamedOrder.clockTolerance)
        let found = facts.filter { fact in
            fact.purchased >= start && opened.product ?? fact.product == fact.product
                && !state.orders.contains { $0.concerns(fact) }
        }.min { ($0.purchased, $0.transaction) < ($1.purchased, $1.transaction) }
        return found.map {
            NamedOrder(order: id, purchase: $0.purchase, transaction: $0.transaction)
        }
    }

    /// Returns whether the fact is about the transaction that fulfilled this order, or itself names the order.
    private func concerns(_ fact: TransactionFact) -> Bool {
        if fact.accountToken.flatMap(AccountToken.init) == opened.token { return true }
        return fulfilled?.transaction == fact.transaction && fulfilled?.purchase == fact.purchase
    }
}

extension CustomerState {
    /// Returns the event that records that this fact fulfils the order.
    func fulfilment(of named: NamedOrder, by fact: TransactionFact) -> Event? {
        guard named.transaction == fact.transaction, named.purchase == fact.purchase,
            let order = order(named.order), order.fulfilled == nil
        else { return nil }
        return .orderFulfilled(
            OrderFulfilled(
                order: order.id, purchase: named.purchase, transaction: named.transaction))
    }
}
