package import Core

/// The queue of evidence that cannot be judged yet.
package protocol IntakeQueue: Sendable {
    /// Adds an item and its evidence, or returns the waiting item with the same evidence; `nil` if
    /// the project's queue is full.
    func addIntake(_ item: IntakeItem, _ evidence: [UInt8]) throws(Fault) -> IntakeItem?
    func intake(_ id: IntakeID, of project: ProjectID) throws(Fault) -> IntakeItem?
    /// Some items of a project after one of them, oldest first; only those in one state if it is named.
    func intake(
        of project: ProjectID, in state: IntakeItem.State.Word?, after last: IntakeItem?,
        limit: Int
    ) throws(Fault) -> [IntakeItem]
    /// Gives one worker the due item with the fewest attempts, until its lease ends. Items that busy stores
    /// would have to judge are left out.
    func takeIntake(now: Instant, without busy: BusyStores) throws(Fault) -> TakenIntake?
    /// Stores the item's present form; false if it was changed since it was read.
    func changeIntake(_ item: IntakeItem) throws(CommandError) -> Bool
    func intakeCounts() throws(Fault) -> IntakeCounts
    /// Deletes some items that ended before an instant, while the lease is held.
    func cleanIntake(endedBefore instant: Instant, under lease: Lease) throws(Fault) -> Int
}

/// The stored evidence.
package protocol EvidenceArchive: Sendable {
    /// Whether evidence with that digest was believed before and is stored.
    func hasBelieved(_ digest: [UInt8]) throws(Fault) -> Bool
}
