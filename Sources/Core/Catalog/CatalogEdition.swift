/// A catalog, and from when on it counted.
package struct CatalogEdition: Hashable, Sendable {
    package let version: Int64
    package let since: Instant
    package let catalog: Catalog

    /// How many are remembered: the log has them all, but decisions need only those that some customer
    /// has not been brought up to.
    static let limit = 64
    /// Before the first catalog.
    static let none = CatalogEdition(version: 0, since: .distantPast, catalog: Catalog())
}

extension ProjectState {
    /// The catalog that counted when a stream had everything up to an instant, and all newer ones.
    func editions(since last: LastRecord, _ told: Instant) -> ArraySlice<CatalogEdition> {
        let first = editions.lastIndex {
            $0.version <= last.catalogVersion || last.at < told && $0.since <= told
        }
        return editions[(first ?? editions.startIndex)...]
    }
}
