/// A catalog and the instant at which it took effect.
package struct CatalogEdition: Hashable, Sendable {
    package let version: Int64
    package let since: Instant
    /// The digest under which the catalog is stored; `nil` if its event contains the catalog.
    package let digest: [UInt8]?
    /// `nil` while the catalog is not in memory.
    package internal(set) var catalog: Catalog?

    package init(_ changed: CatalogChanged, since: Instant) {
        version = changed.version
        digest = changed.digest
        catalog = changed.catalog
        self.since = since
    }

    /// The number of editions that a project's state remembers. The log contains all editions, but decisions need
    /// only editions whose effects have not yet been recorded for every customer.
    package static let limit = 64
    /// The edition before the first catalog.
    static let none = CatalogEdition(
        CatalogChanged(version: 0, catalog: Catalog()), since: .distantPast)

    /// Returns the same edition with this catalog.
    package func with(_ catalog: Catalog?) -> CatalogEdition {
        var edition = self
        edition.catalog = catalog
        return edition
    }

    /// The catalog, which must be in memory.
    var contents: Catalog {
        guard let catalog else { preconditionFailure("the catalog \(version) was not read") }
        return catalog
    }
}

extension ProjectState {
    /// Returns the edition with this version and all newer editions, most of them without their catalogs. Returns
    /// `nil` if the edition is no longer remembered.
    package func editions(from version: Int64) -> ArraySlice<CatalogEdition>? {
        editions.firstIndex { $0.version == version }.map { editions[$0...] }
    }
}

extension CustomerState {
    /// Returns the edition that was in effect when the stream was last written, and all newer editions, most of them
    /// without their catalogs. Returns no editions if no boundaries are published for the customer.
    package func openEditions(of project: ProjectState) -> ArraySlice<CatalogEdition> {
        guard project.exists, let lastRecord, !isErased else { return [] }
        let editions = project.editions
        let first = editions.lastIndex { $0.version <= lastRecord.catalogVersion }
        return editions[(first ?? editions.startIndex)...]
    }

    /// Every product in the customer's purchases.
    package var products: Set<ProductKey> {
        var keys: Set<ProductKey> = []
        for purchase in purchases {
            let items = purchase.evidence.flatMap { $0.effective.items.map(\.product) }
            for product in purchase.products + items {
                keys.insert(ProductKey(store: purchase.id.store, id: product))
            }
        }
        return keys
    }
}
