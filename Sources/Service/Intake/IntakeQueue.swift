package import Core

/// The queue of evidence that cannot be judged yet.
package protocol IntakeQueue: Sendable {
    /// Adds an item and its evidence, or returns the waiting item with the same evidence; `nil` if
    /// the project's queue is full.
    func addIntake(_ item: IntakeItem, _ evidence: [UInt8]) throws(Fault) -> IntakeItem?
    func intake(_ id: IntakeID, of project: ProjectID) throws(Fault) -> IntakeItem?
    /// A page of a project's items after a given one, oldest first, optionally only those in one state.
    func intake(
        of project: ProjectID, in state: IntakeItem.State.Word?, after last: IntakeItem?,
        limit: Int
    ) throws(Fault) -> [IntakeItem]
    /// Gives one worker the due item with the fewest attempts, until its lease ends. Skips items
    /// that busy stores would have to judge.
    func takeIntake(now: Instant, without busy: BusyStores) throws(Fault) -> TakenIntake?
    /// Stores the item's current form; false if the item was changed since it was read.
    func changeIntake(_ item: IntakeItem) throws(CommandError) -> Bool
    func intakeCounts() throws(Fault) -> IntakeCounts
    /// Deletes some items that ended before an instant, while the lease is held.
    func cleanIntake(endedBefore instant: Instant, under lease: Lease) throws(Fault) -> Int
}

/// The stored evidence.
package protocol EvidenceArchive: Sendable {
    /// Whether evidence with that digest was already accepted and is stored.
    func hasBelieved(_ digest: [UInt8]) throws(Fault) -> Bool
}
