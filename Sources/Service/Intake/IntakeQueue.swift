package import Core

/// The queue of evidence that cannot be judged yet.
package protocol IntakeQueue: Sendable {
    /// Adds an item and its evidence, or gives the one in which the same evidence waits already;
    /// `nil` when as much of the project waits as may.
    func addIntake(_ item: IntakeItem, _ evidence: [UInt8]) throws(Fault) -> IntakeItem?
    func intake(_ id: IntakeID, of project: ProjectID) throws(Fault) -> IntakeItem?
    /// Some items of a project behind one of them, oldest first; those in one state where one is named.
    func intake(
        of project: ProjectID, in state: IntakeItem.State.Word?, after last: IntakeItem?,
        limit: Int
    ) throws(Fault) -> [IntakeItem]
    /// Gives the item that is due and was tried least, to one worker until its lease ends. What busy stores
    /// would have to judge is left out.
    func takeIntake(now: Instant, without busy: BusyStores) throws(Fault) -> TakenIntake?
    /// Keeps the item as it is now; false when it was changed since it was read.
    func changeIntake(_ item: IntakeItem) throws(CommandError) -> Bool
    func intakeCounts() throws(Fault) -> IntakeCounts
    /// Forgets some items that ended before an instant, as long as the lease is held.
    func cleanIntake(endedBefore instant: Instant, under lease: Lease) throws(Fault) -> Int
}

/// The evidence that is kept.
package protocol EvidenceArchive: Sendable {
    /// Whether evidence of that digest was believed before and is kept.
    func hasBelieved(_ digest: [UInt8]) throws(Fault) -> Bool
}
