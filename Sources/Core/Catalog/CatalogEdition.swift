/// A catalog, and from when on it counted.
package struct CatalogEdition: Hashable, Sendable {
    package let version: Int64
    package let since: Instant
    package let catalog: Catalog

    package init(version: Int64, since: Instant, catalog: Catalog) {
        self.version = version
        self.since = since
        self.catalog = catalog
    }

    /// How many are remembered. The log has them all, but decisions need only the editions that some customer
    /// has not been brought up to.
    static let limit = 64
    /// Before the first catalog.
    static let none = CatalogEdition(version: 0, since: .distantPast, catalog: Catalog())
}

extension ProjectState {
    /// The catalog of that version and all newer ones; `nil` where it is remembered no more.
    package func catalogs(since version: Int64) -> [Catalog]? {
        guard let first = editions.firstIndex(where: { $0.version == version }) else { return nil }
        return editions[first...].map(\.catalog)
    }

    /// The catalog that counted when a stream was last written, and all newer ones.
    func editions(since last: LastRecord) -> ArraySlice<CatalogEdition> {
        let first = editions.lastIndex { $0.version <= last.catalogVersion }
        return editions[(first ?? editions.startIndex)...]
    }
}
