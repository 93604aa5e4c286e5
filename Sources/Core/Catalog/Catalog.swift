/// What a project sells and what that unlocks.
package struct Catalog: Hashable, Sendable {
    private let content: Shared<CatalogContent>

    /// In order of store and id.
    package var products: [Product] { content.value.products }
    /// What an entitlement is called, where somebody cared to say.
    package var entitlementTitles: [EntitlementID: String] { content.value.entitlementTitles }
    /// What a currency is called, where somebody cared to say.
    package var currencyTitles: [CurrencyID: String] { content.value.currencyTitles }
    package var originalVersionRules: [OriginalVersionRule] { content.value.originalVersionRules }

    /// A catalog in which nothing is sold.
    package init() {
        self.init(products: [], entitlementTitles: [:], currencyTitles: [:], rules: [])
    }

    /// Only a draft that was validated becomes a catalog.
    init(
        products: [Product], entitlementTitles: [EntitlementID: String],
        currencyTitles: [CurrencyID: String], rules: [OriginalVersionRule]
    ) {
        let products = products.sorted { $0.key < $1.key }
        let places = Dictionary(
            products.enumerated().map { ($1.key, $0) }, uniquingKeysWith: { first, _ in first })
        content = Shared(
            CatalogContent(
                products: products, entitlementTitles: entitlementTitles,
                currencyTitles: currencyTitles, originalVersionRules: rules, places: places))
    }

    package func product(_ key: ProductKey) -> Product? {
        place(of: key).map { products[$0] }
    }

    /// Where a product stands in `products`.
    func place(of key: ProductKey) -> Int? { content.value.places[key] }

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

/// What a catalog holds.
private struct CatalogContent: Hashable, Sendable {
    let products: [Product]
    let entitlementTitles: [EntitlementID: String]
    let currencyTitles: [CurrencyID: String]
    let originalVersionRules: [OriginalVersionRule]
    let places: [ProductKey: Int]
}
