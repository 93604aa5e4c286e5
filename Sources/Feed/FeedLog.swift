package import Core
package import Following

/// The feed's access to the log.
package protocol FeedLog: LogPlaces {
    func project(_ project: ProjectID) throws(Fault) -> ProjectState
    /// Returns the events after the given positions, read from the server that accepts writes.
    func look(_ interest: Interest, after place: [Position]) throws(Fault) -> FeedLook
    /// Folds the next events of each customer up to a version. An unreadable customer gets a fault.
    func recall(_ told: [PartlyTold]) throws(Fault) -> [Result<ToldAccess, Fault>]
    /// Returns the first requested events of each customer, with their content.
    func later(_ wanted: [LaterEvents], limit: Int) throws(Fault) -> [[LoggedEvent]]
    /// Returns the requested edition and some later ones, out of all editions that the project has
    /// ever had.
    func editions(of project: ProjectID, from wanted: WantedCatalog) throws(Fault)
        -> [CatalogEdition]
    /// Returns the edition's catalog, or at least the part that concerns the customer.
    func catalog(
        _ edition: CatalogEdition, of project: ProjectID, for customer: CustomerState
    ) throws(Fault) -> Catalog
    /// Returns the event with its payload decoded.
    func recorded(_ event: LoggedEvent) throws(Fault) -> RecordedEvent
}

/// Positions in all shards of the log, by shard number.
package protocol LogPlaces: Sendable {
    /// Returns the last position of each shard.
    func heads() throws(Fault) -> [Int64]
    /// Returns the last position in each shard that was recorded before the instant.
    func places(before instant: Instant) throws(Fault) -> [Int64]
    /// Returns marks that identify the events at the shards' given positions. A different event at the same position
    /// has a different mark.
    func marks(of place: [Int64]) throws(Fault) -> [UInt64]
}
