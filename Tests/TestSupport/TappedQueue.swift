package import Core
package import Service

/// The service's queue. A test can replace a change, or act before an item is taken.
package struct TappedQueue: IntakeQueue {
    package typealias Change = @Sendable (IntakeItem) throws(CommandError) -> Bool

    private let queue: any IntakeQueue
    private let change: Change?
    private let prepare: @Sendable () -> Void

    package init(
        _ queue: any IntakeQueue, change: Change? = nil,
        beforeTaking prepare: @escaping @Sendable () -> Void = {}
    ) {
        self.queue = queue
        self.change = change
        self.prepare = prepare
    }

    package func addIntake(_ item: IntakeItem, _ evidence: [UInt8]) throws(Fault) -> IntakeItem? {
        try queue.addIntake(item, evidence)
    }

    package func intake(_ id: IntakeID, of project: ProjectID) throws(Fault) -> IntakeItem? {
        try queue.intake(id, of: project)
    }

    package func intake(
        of project: ProjectID, in state: IntakeItem.State.Word?, after last: IntakeItem?,
        limit: Int
    ) throws(Fault) -> [IntakeItem] {
        try queue.intake(of: project, in: state, after: last, limit: limit)
    }

    package func takeIntake(now: Instant, without busy: BusyStores) throws(Fault) -> TakenIntake? {
        prepare()
        return try queue.takeIntake(now: now, without: busy)
    }

    package func changeIntake(_ item: IntakeItem) throws(CommandError) -> Bool {
        if let change { try change(item) } else { try queue.changeIntake(item) }
    }

    package func intakeCounts() throws(Fault) -> IntakeCounts { try queue.intakeCounts() }

    package func cleanIntake(endedBefore instant: Instant, under lease: Lease) throws(Fault) -> Int
    {
        try queue.cleanIntake(endedBefore: instant, under: lease)
    }
}
