/// The products that a project sells, and what they unlock.
package struct Catalog: Hashable, Sendable {
    private let content: Shared<CatalogContent>

    /// The products, sorted by store and id.
    package var products: [Product] { content.value.products }
    /// The titles of the entitlements to which the catalog gives one.
    package var entitlementTitles: [EntitlementID: String] { content.value.entitlementTitles }
    /// The titles of the currencies to which the catalog gives one.
    package var currencyTitles: [CurrencyID: String] { content.value.currencyTitles }
    package var originalVersionRules: [OriginalVersionRule] { content.value.originalVersionRules }
    /// How long before access to an entitlement ends the upcoming end is announced.
    package var endingSoon: [EntitlementID: CalendarDuration] { content.value.endingSoon }

    /// A catalog without products.
    package init() {
        self.init(
            products: [], entitlementTitles: [:], endingSoon: [:], currencyTitles: [:], rules: [])
    }

    /// Internal, because only a validated draft may become a catalog.
    init(
        products: [Product], entitlementTitles: [EntitlementID: String],
        endingSoon: [EntitlementID: CalendarDuration], currencyTitles: [CurrencyID: String],
        rules: [OriginalVersionRule]
    ) {
        let products = products.sorted { $0.key < $1.key }
        let places = Dictionary(
            products.enumerated().map { ($1.key, $0) }, uniquingKeysWith: { first, _ in first })
        content = Shared(
            CatalogContent(
                products: products, entitlementTitles: entitlementTitles, endingSoon: endingSoon,
                currencyTitles: currencyTitles, originalVersionRules: rules, places: places,
                names: CatalogNames(products, rules, entitlementTitles, currencyTitles)))
    }

    package func product(_ key: ProductKey) -> Product? {
        place(of: key).map { products[$0] }
    }

    /// The catalog as far as it concerns customers who bought only these products. Their rights and
    /// boundaries are the same by both.
    package func narrowed(to keys: Set<ProductKey>) -> Catalog {
        Catalog(
            products: keys.compactMap(product), entitlementTitles: [:], endingSoon: endingSoon,
            currencyTitles: [:], rules: originalVersionRules)
    }

    /// The index of a product in `products`.
    func place(of key: ProductKey) -> Int? { content.value.places[key] }

    /// Every entitlement that the catalog mentions, sorted.
    package var entitlements: [EntitlementID] { content.value.names.entitlements.sorted() }

    /// Every currency that the catalog mentions, sorted.
    package var currencies: [CurrencyID] { content.value.names.currencies.sorted() }

    /// Whether the catalog mentions the name.
    package func knows(_ name: CatalogName) -> Bool {
        switch name {
        case .entitlement(let id): content.value.names.entitlements.contains(id)
        case .currency(let id): content.value.names.currencies.contains(id)
        case .product(let id): content.value.names.products.contains(id)
        }
    }
}

/// All names in a catalog. They are collected once, because every grant looks one up.
private struct CatalogNames: Hashable, Sendable {
    private(set) var entitlements: Set<EntitlementID>
    private(set) var currencies: Set<CurrencyID>
    let products: Set<ProductID>

    init(
        _ products: [Product], _ rules: [OriginalVersionRule],
        _ entitlementTitles: [EntitlementID: String], _ currencyTitles: [CurrencyID: String]
    ) {
        entitlements = Set(entitlementTitles.keys)
        currencies = Set(currencyTitles.keys)
        self.products = Set(products.map(\.id))
        for product in products {
            entitlements.formUnion(product.entitlements)
            currencies.formUnion(product.credits.keys)
        }
        for rule in rules { entitlements.formUnion(rule.entitlements) }
    }
}

/// A catalog's contents.
private struct CatalogContent: Hashable, Sendable {
    let products: [Product]
    let entitlementTitles: [EntitlementID: String]
    let endingSoon: [EntitlementID: CalendarDuration]
    let currencyTitles: [CurrencyID: String]
    let originalVersionRules: [OriginalVersionRule]
    let places: [ProductKey: Int]
    let names: CatalogNames
}
