/// The products that a project sells, and what they unlock.
package struct Catalog: Hashable, Sendable {
    private let content: Shared<CatalogContent>

    /// The products, sorted by store and id.
    package var products: [Product] { content.value.products }
    /// Titles of entitlements; an entitlement may lack one.
    package var entitlementTitles: [EntitlementID: String] { content.value.entitlementTitles }
    /// Titles of currencies; a currency may lack one.
    package var currencyTitles: [CurrencyID: String] { content.value.currencyTitles }
    package var originalVersionRules: [OriginalVersionRule] { content.value.originalVersionRules }
    /// How long in advance Deed announces the end of access to an entitlement.
    package var endingSoon: [EntitlementID: CalendarDuration] { content.value.endingSoon }

    /// Creates a catalog without products.
    package init() {
        self.init(
            products: [], entitlementTitles: [:], endingSoon: [:], currencyTitles: [:], rules: [])
    }

    /// Creates a catalog. Internal, because only a validated draft may become one.
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

    /// Returns the catalog reduced to these products. Customers who bought no others have the same rights and
    /// boundaries under both catalogs.
    package func narrowed(to keys: Set<ProductKey>) -> Catalog {
        Catalog(
            products: keys.compactMap(product), entitlementTitles: [:], endingSoon: endingSoon,
            currencyTitles: [:], rules: originalVersionRules)
    }

    /// Returns the index of a product in `products`.
    func place(of key: ProductKey) -> Int? { content.value.places[key] }

    /// Every entitlement that the catalog mentions, sorted.
    package var entitlements: [EntitlementID] { content.value.names.entitlements.sorted() }

    /// Every currency that the catalog mentions, sorted.
    package var currencies: [CurrencyID] { content.value.names.currencies.sorted() }

    /// Returns whether the catalog mentions the name.
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

private struct CatalogContent: Hashable, Sendable {
    let products: [Product]
    let entitlementTitles: [EntitlementID: String]
    let endingSoon: [EntitlementID: CalendarDuration]
    let currencyTitles: [CurrencyID: String]
    let originalVersionRules: [OriginalVersionRule]
    let places: [ProductKey: Int]
    let names: CatalogNames
}
