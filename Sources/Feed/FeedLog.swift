package import Core
package import Following

/// What the feed needs of the log.
package protocol FeedLog: LogPlaces {
    func project(_ project: ProjectID) throws(Fault) -> ProjectState
    /// The events after some places, from the server that surely takes the writes.
    func look(_ interest: Interest, after place: [Position]) throws(Fault) -> FeedLook
    /// Takes in each customer's further events, through a version. An unreadable customer has a fault in
    /// that place.
    func recall(_ told: [PartlyTold]) throws(Fault) -> [Result<ToldAccess, Fault>]
    /// The first events of each customer that are wanted, with their content.
    func later(_ wanted: [LaterEvents], limit: Int) throws(Fault) -> [[LoggedEvent]]
    /// The wanted catalog and some that follow on it, out of all that the project ever had.
    func editions(of project: ProjectID, from wanted: WantedCatalog) throws(Fault)
        -> [CatalogEdition]
    /// The event, its payload read.
    func recorded(_ event: LoggedEvent) throws(Fault) -> RecordedEvent
}

/// Places in all shards of the log, by the shard's number.
package protocol LogPlaces: Sendable {
    /// The last position of each shard.
    func heads() throws(Fault) -> [Int64]
    /// The last position of each shard that was recorded before the instant.
    func places(before instant: Instant) throws(Fault) -> [Int64]
    /// Distinguishes the event at each shard's place from any other that could stand there.
    func marks(of place: [Int64]) throws(Fault) -> [UInt64]
}
