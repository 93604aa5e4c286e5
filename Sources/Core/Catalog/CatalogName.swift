/// A name in a request that should also appear in the catalog.
package enum CatalogName: Hashable, Sendable {
    case entitlement(EntitlementID)
    case currency(CurrencyID)
    case product(ProductID)

    package var text: String {
        switch self {
        case .entitlement(let id): id.text
        case .currency(let id): id.text
        case .product(let id): id.text
        }
    }

    /// The kind of object that the name stands for.
    package var noun: String {
        switch self {
        case .entitlement: "entitlement"
        case .currency: "currency"
        case .product: "product"
        }
    }
}

extension ProjectState {
    /// Throws unless the catalog knows the name. A project without a catalog accepts any name.
    package func require(_ name: CatalogName) throws(Refusal) {
        if catalogVersion == 0 || catalog.knows(name) { return }
        throw .nameUnknown(
            name, nearest: nearest(to: name.text, among: catalog.names(like: name)))
    }
}

extension Situation {
    /// Throws unless the catalog knows the name or it appears in the customer's past.
    package func require(_ name: CatalogName, for customer: CustomerID) throws(Refusal) {
        if !self.customer(customer).has(name) { try project.require(name) }
    }
}

extension CustomerState {
    /// Returns whether the name appears in the customer's past, even if the catalog no longer knows it.
    func has(_ name: CatalogName) -> Bool {
        guard case .currency(let currency) = name else { return false }
        return balances.moved(currency)
    }
}

extension Catalog {
    fileprivate func names(like name: CatalogName) -> [String] {
        switch name {
        case .entitlement: entitlements.map(\.text)
        case .currency: currencies.map(\.text)
        case .product: products.map(\.id.text)
        }
    }
}
