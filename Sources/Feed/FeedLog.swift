package import Core
package import Following

/// What the feed needs of the log.
package protocol FeedLog: Sendable {
    func project(_ project: ProjectID) throws(Fault) -> ProjectState
    /// The last position of each shard, by the shard's number.
    func heads() throws(Fault) -> [Int64]
    /// What follows on some places, of a server that is surely the one that others write to.
    func look(_ interest: Interest, after place: [Position]) throws(Fault) -> FeedLook
    /// Of each shard the last position that was recorded before the instant.
    func places(before instant: Instant) throws(Fault) -> [Int64]
    /// Takes in of each customer what follows, through a version. One that cannot be read has a fault in that
    /// place.
    func recall(_ told: [PartlyTold]) throws(Fault) -> [Result<ToldAccess, Fault>]
    /// The wanted catalog and some that follow on it, out of all that the project ever had.
    func editions(of project: ProjectID, from wanted: WantedCatalog) throws(Fault)
        -> [CatalogEdition]
    /// The event, its payload read.
    func recorded(_ event: LoggedEvent) throws(Fault) -> RecordedEvent
}
