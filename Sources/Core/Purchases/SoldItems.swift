extension TransactionFact {
    /// The products that the catalog has to know: its own, or those for which it stands.
    var soldProducts: [ProductID] { items.isEmpty ? [product] : items.map(\.product) }

    /// The first product that the catalog does not know.
    package func unknownProduct(by catalog: Catalog) -> ProductKey? {
        soldProducts.lazy.map { ProductKey(store: store, id: $0) }
            .first { catalog.product($0) == nil }
    }

    /// How many of its items were taken back alone.
    var itemsTakenBack: Int { items.count { $0.revokedAt != nil } }

    /// Whether it has items, and none that was not taken back.
    var isTakenBackByItems: Bool { !items.isEmpty && itemsTakenBack == items.count }
}

extension Purchase {
    /// What a transaction sold under a product that stands for it.
    func items(of index: Int) -> [SoldItem] {
        transactions[index].hasItems ? evidence[index].effective.items : []
    }
}
