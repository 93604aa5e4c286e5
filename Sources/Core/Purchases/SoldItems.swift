extension TransactionFact {
    /// The products that the catalog must know: the transaction's own product, or the products that
    /// it represents.
    var soldProducts: [ProductID] {
        if let reading { return reading.items.filter(\.isOwned).map(\.product) }
        return items.isEmpty ? [product] : items.map(\.product)
    }

    /// The keys of these products.
    package var soldKeys: [ProductKey] {
        soldProducts.map { ProductKey(store: store, id: $0) }
    }

    /// Returns the first product that the catalog does not know.
    package func unknownProduct(by catalog: Catalog) -> ProductKey? {
        soldProducts.lazy.map { ProductKey(store: store, id: $0) }
            .first { catalog.product($0) == nil }
    }

    /// How many of the transaction's items have been revoked individually.
    var itemsTakenBack: Int { items.count { $0.revokedAt != nil } }

    /// Whether the transaction has items and all of them have been revoked.
    var isTakenBackByItems: Bool { !items.isEmpty && itemsTakenBack == items.count }
}

extension Purchase {
    /// Returns the items that a transaction sold under a product that represents them.
    func items(of index: Int) -> [SoldItem] {
        transactions[index].hasItems ? evidence[index].effective.items : []
    }
}
