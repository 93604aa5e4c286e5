package import Core

/// What the use cases need of the queue of evidence that cannot be judged yet.
package struct IntakePort: Sendable {
    /// Adds an item and its evidence, or gives the one in which the same evidence waits already;
    /// `nil` when as much of the project waits as may.
    package var add: @Sendable (IntakeItem, _ evidence: [UInt8]) throws(Fault) -> IntakeItem?
    package var find: @Sendable (ProjectID, IntakeID) throws(Fault) -> IntakeItem?
    /// Some items of a project behind one of them, oldest first.
    package var list: @Sendable (ProjectID, IntakeFilter) throws(Fault) -> [IntakeItem]
    /// Gives the item that is due and was tried least, to one worker until its lease ends. What busy stores
    /// would have to judge is left out.
    package var take:
        @Sendable (_ now: Instant, _ without: BusyStores) throws(Fault) -> TakenIntake?
    /// Keeps the item as it is now; false when it was changed since it was read.
    package var change: @Sendable (IntakeItem) throws(CommandError) -> Bool
    package var counts: @Sendable () throws(Fault) -> IntakeCounts
    /// Forgets some items that ended before an instant, as long as the lease is held.
    package var clean: @Sendable (_ endedBefore: Instant, Lease) throws(Fault) -> Int

    package init(
        add: @escaping @Sendable (IntakeItem, _ evidence: [UInt8]) throws(Fault) -> IntakeItem?,
        find: @escaping @Sendable (ProjectID, IntakeID) throws(Fault) -> IntakeItem?,
        list: @escaping @Sendable (ProjectID, IntakeFilter) throws(Fault) -> [IntakeItem],
        take:
            @escaping @Sendable (_ now: Instant, _ without: BusyStores) throws(Fault) ->
            TakenIntake?,
        change: @escaping @Sendable (IntakeItem) throws(CommandError) -> Bool,
        counts: @escaping @Sendable () throws(Fault) -> IntakeCounts,
        clean: @escaping @Sendable (_ endedBefore: Instant, Lease) throws(Fault) -> Int
    ) {
        self.add = add
        self.find = find
        self.list = list
        self.take = take
        self.change = change
        self.counts = counts
        self.clean = clean
    }
}

/// Which items of a project to list.
package struct IntakeFilter: Sendable {
    /// `nil`: those in any state.
    package var state: IntakeItem.State.Word?
    package var after: IntakeItem?
    package var limit: Int

    package init(state: IntakeItem.State.Word? = nil, after: IntakeItem? = nil, limit: Int) {
        self.state = state
        self.after = after
        self.limit = limit
    }
}
