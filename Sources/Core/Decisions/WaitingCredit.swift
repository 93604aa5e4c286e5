/// A transaction that was recorded before the catalog contained all of its products. Once the catalog
/// contains such a product, the transaction may add to a balance.
package struct WaitingCredit: Hashable, Sendable {
    package let purchase: PurchaseID
    package let transaction: TransactionID
    /// The first of the products that the catalog did not contain.
    package let product: ProductID

    package init(purchase: PurchaseID, transaction: TransactionID, product: ProductID) {
        self.purchase = purchase
        self.transaction = transaction
        self.product = product
    }

    /// `nil` if the catalog knows all products that may be consumables.
    package init?(_ fact: TransactionFact, by catalog: Catalog) {
        let unknown = fact.possibleConsumables.first {
            catalog.product(ProductKey(store: fact.store, id: $0)) == nil
        }
        guard let unknown else { return nil }
        self.init(purchase: fact.purchase, transaction: fact.transaction, product: unknown)
    }

    package var key: ProductKey { ProductKey(store: purchase.store, id: product) }
}

extension TransactionFact {
    /// The products that may be consumables. A store's answer about several products states more than the fact's own
    /// members, which describe only the first one.
    fileprivate var possibleConsumables: [ProductID] {
        guard let reading else {
            let isPossible = kind ?? .consumable == .consumable && expires == nil
            return isPossible ? soldProducts : []
        }
        if reading.state != .purchased, reading.state != .takenBack { return [] }
        return reading.items.filter { $0.isOwned && !$0.isRented && $0.expires == nil }
            .map(\.product)
    }
}

extension CustomerState {
    /// Returns whether a catalog with the product would give the purchase anything: a missing credit, or the
    /// entitlements that another kind of product unlocks.
    package func awaits(_ key: ProductKey, with purchase: Purchase, by catalog: Catalog) -> Bool {
        guard case .consumable? = catalog.product(key)?.terms else { return true }
        return purchase.evidence.lazy.map(\.effective).contains { fact in
            fact.product == key.id && !settlement(of: fact, by: catalog).isEmpty
        }
    }

    /// Adjusts balances to the worth of these transactions, according to a catalog that may contain some of their
    /// products. Earlier credits stay unchanged.
    package func settling(_ waiting: [WaitingCredit], by catalog: Catalog) -> [Event] {
        var history = History(of: self)
        for credit in waiting {
            for fact in history.state.sales(of: credit) {
                for event in history.state.settlement(of: fact, by: catalog) {
                    history.append(event)
                }
            }
        }
        return history.events
    }

    /// Returns whether the catalog contains every product for which the transaction waits. Until then, any later
    /// catalog may contain the next one.
    package func isSettled(_ credit: WaitingCredit, by catalog: Catalog) -> Bool {
        catalog.product(credit.key) != nil
            && sales(of: credit).allSatisfy { WaitingCredit($0, by: catalog) == nil }
    }

    /// Returns the transactions for which the credit waits. A store's answer may sell several products at once.
    private func sales(of credit: WaitingCredit) -> [TransactionFact] {
        guard let purchase = purchase(credit.purchase) else { return [] }
        return purchase.evidence.map(\.effective).filter {
            purchase.isRead || $0.transaction == credit.transaction
        }
    }
}
