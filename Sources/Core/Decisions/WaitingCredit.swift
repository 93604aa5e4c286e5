/// A transaction that was recorded before the catalog contained its product. Once the catalog
/// contains the product, the transaction may add to a balance.
package struct WaitingCredit: Hashable, Sendable {
    package let purchase: PurchaseID
    package let transaction: TransactionID
    package let product: ProductID

    package init(purchase: PurchaseID, transaction: TransactionID, product: ProductID) {
        self.purchase = purchase
        self.transaction = transaction
        self.product = product
    }

    /// `nil` if the catalog knows the product, or if the product cannot be a consumable.
    package init?(_ fact: TransactionFact, by catalog: Catalog) {
        guard fact.kind ?? .consumable == .consumable, fact.expires == nil,
            let product = fact.unknownProduct(by: catalog)
        else { return nil }
        self.init(purchase: fact.purchase, transaction: fact.transaction, product: product.id)
    }

    package var key: ProductKey { ProductKey(store: purchase.store, id: product) }
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

    /// Adjusts balances to the worth of these transactions, according to a catalog that contains
    /// their products. Earlier credits stay unchanged.
    package func settling(_ waiting: [WaitingCredit], by catalog: Catalog) -> [Event] {
        var history = History(of: self)
        for credit in waiting {
            guard let purchase = history.state.purchase(credit.purchase) else { continue }
            // Several products may have been bought at once.
            let known = purchase.evidence.map(\.effective).filter {
                purchase.isRead || $0.transaction == credit.transaction
            }
            for fact in known {
                for event in history.state.settlement(of: fact, by: catalog) {
                    history.append(event)
                }
            }
        }
        return history.events
    }
}
