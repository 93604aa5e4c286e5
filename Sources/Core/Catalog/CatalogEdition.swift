/// A catalog and the instant at which it took effect.
package struct CatalogEdition: Hashable, Sendable {
    package let version: Int64
    package let since: Instant
    package let catalog: Catalog

    package init(version: Int64, since: Instant, catalog: Catalog) {
        self.version = version
        self.since = since
        self.catalog = catalog
    }

    /// How many editions are remembered. The log contains all of them, but decisions need only the
    /// editions whose effects have not yet been recorded for every customer.
    static let limit = 64
    /// The edition before the first catalog.
    static let none = CatalogEdition(version: 0, since: .distantPast, catalog: Catalog())
}

extension ProjectState {
    /// The catalog with this version and all newer ones; `nil` if it is no longer remembered.
    package func catalogs(since version: Int64) -> [Catalog]? {
        guard let first = editions.firstIndex(where: { $0.version == version }) else { return nil }
        return editions[first...].map(\.catalog)
    }

    /// The catalog that was in effect when a stream was last written, and all newer ones.
    func editions(since last: LastRecord) -> ArraySlice<CatalogEdition> {
        let first = editions.lastIndex { $0.version <= last.catalogVersion }
        return editions[(first ?? editions.startIndex)...]
    }
}
