/// What a project sells and what that unlocks.
package struct Catalog: Hashable, Sendable {
    /// In order of store and id.
    package let products: [Product]
    /// What an entitlement is called, where somebody cared to say.
    package let entitlementTitles: [EntitlementID: String]
    /// What a currency is called, where somebody cared to say.
    package let currencyTitles: [CurrencyID: String]
    package let originalVersionRules: [OriginalVersionRule]
    private let places: [ProductKey: Int]

    /// A catalog in which nothing is sold.
    package init() {
        self.init(products: [], entitlementTitles: [:], currencyTitles: [:], rules: [])
    }

    /// Only a draft that was validated becomes a catalog.
    init(
        products: [Product], entitlementTitles: [EntitlementID: String],
        currencyTitles: [CurrencyID: String], rules: [OriginalVersionRule]
    ) {
        self.products = products.sorted { $0.key < $1.key }
        self.entitlementTitles = entitlementTitles
        self.currencyTitles = currencyTitles
        originalVersionRules = rules
        places = Dictionary(
            self.products.enumerated().map { ($1.key, $0) }, uniquingKeysWith: { first, _ in first }
        )
    }

    package func product(_ key: ProductKey) -> Product? {
        place(of: key).map { products[$0] }
    }

    /// Where a product stands in `products`.
    func place(of key: ProductKey) -> Int? { places[key] }

    /// Every entitlement that the catalog names, in order.
    package var entitlements: [EntitlementID] {
        var all = Set(entitlementTitles.keys)
        for product in products { all.formUnion(product.entitlements) }
        for rule in originalVersionRules { all.formUnion(rule.entitlements) }
        return all.sorted()
    }

    /// Every currency that the catalog names, in order.
    package var currencies: [CurrencyID] {
        var all = Set(currencyTitles.keys)
        for product in products { all.formUnion(product.credits.keys) }
        return all.sorted()
    }
}
