package import Core

/// The queue of evidence that cannot be judged yet.
package protocol IntakeQueue: Sendable {
    /// Adds an item with its evidence, or returns the waiting item that has the same evidence;
    /// `nil` if the project's queue is full.
    func addIntake(_ item: IntakeItem, _ evidence: [UInt8]) throws(Fault) -> IntakeItem?
    func intake(_ id: IntakeID, of project: ProjectID) throws(Fault) -> IntakeItem?
    /// Returns a page of a project's items after a given item, oldest first. The page can be restricted to items in one
    /// state.
    func intake(
        of project: ProjectID, in state: IntakeItem.State.Word?, after last: IntakeItem?,
        limit: Int
    ) throws(Fault) -> [IntakeItem]
    /// Gives a worker the due item with the fewest attempts, until the worker's lease ends. Skips
    /// items for which a busy store would have to be asked.
    func takeIntake(now: Instant, without busy: BusyStores) throws(Fault) -> TakenIntake?
    /// Stores the item in its current form. Returns false if the item has been changed since it was
    /// read.
    func changeIntake(_ item: IntakeItem) throws(CommandError) -> Bool
    func intakeCounts() throws(Fault) -> IntakeCounts
    /// Deletes some of the items that ended before an instant, provided that the lease is held.
    func cleanIntake(endedBefore instant: Instant, under lease: Lease) throws(Fault) -> Int
}

/// Access to stored evidence.
package protocol EvidenceArchive: Sendable {
    /// Returns whether evidence with that digest has already been accepted and stored.
    func hasBelieved(_ digest: [UInt8]) throws(Fault) -> Bool
}
