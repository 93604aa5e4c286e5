package import Core

/// Taking evidence in: proving it, having it wait while it cannot be proven, and asking the stores.
package struct Intake: Sendable {
    package var ports: Ports
    package var queue: any IntakeQueue
    let archive: any EvidenceArchive
    package var stores: [Store: StoreAdapter]
    /// Whether evidence of production counts: not where the time is a test's.
    package let takesProduction: Bool

    package init(
        ports: Ports, _ ledger: some IntakeQueue & EvidenceArchive, stores: [StoreAdapter],
        takesProduction: Bool = true
    ) {
        self.ports = ports
        queue = ledger
        archive = ledger
        self.stores = Dictionary(stores.map { ($0.profile.store, $0) }) { first, _ in first }
        self.takesProduction = takesProduction
    }
}

extension Intake {
    /// Queues evidence that cannot be judged yet. The same evidence for the same purpose waits once, however
    /// often it is sent.
    package func hold(
        _ evidence: RawEvidence, _ purpose: IntakeWish.Purpose, order: OrderID?,
        heading: EvidenceHeading, of project: ProjectID
    ) throws(CommandError) -> IntakeItem {
        let wish = IntakeWish(project: project, purpose: purpose, order: order, heading: heading)
        let item = IntakeItem(ports.secrets.newID(prefix: "i_"), wish, now: ports.now())
        let added = try obtain(queue.addIntake(item, evidence.bytes))
        guard let added else { throw .refused(.intakeFull) }
        return added
    }

    /// What became of queued evidence.
    package func item(
        _ id: IntakeID, of project: ProjectID
    ) throws(CommandError) -> IntakeItem {
        let found = try obtain(queue.intake(id, of: project))
        guard let found else { throw .refused(.intakeUnknown(id)) }
        return found
    }

    /// Some of a project's queue, oldest first.
    package func items(
        of project: ProjectID, in state: IntakeItem.State.Word?, limit: Int
    ) throws(CommandError) -> [IntakeItem] {
        _ = try ports.ledger.existing(project)
        return try obtain(queue.intake(of: project, in: state, after: nil, limit: limit))
    }

    /// The wish to end an item that support staff took care of in another way.
    package func settling(
        _ id: IntakeID, of project: ProjectID, reason: AdminReason, by sender: Sender
    ) -> Wish<IntakeItem> {
        changing(id, of: project) { item, now throws(Refusal) in
            try item.settled(by: AdminAct(sender, reason), now: now)
        }
    }

    /// The wish to end an item that should have no effect.
    package func dropping(
        _ id: IntakeID, of project: ProjectID, reason: AdminReason, by sender: Sender
    ) -> Wish<IntakeItem> {
        changing(id, of: project) { item, now throws(Refusal) in
            try item.dropped(by: AdminAct(sender, reason), now: now)
        }
    }

    /// The wish to have an item judged now, as if it had just come, also one that was refused or ended
    /// by hand.
    package func retrying(
        _ id: IntakeID, of project: ProjectID, reason: AdminReason, by sender: Sender
    ) -> Wish<IntakeItem> {
        changing(id, of: project) { item, now throws(Refusal) in
            try item.retried(by: AdminAct(sender, reason), now: now)
        }
    }

    /// The queue is not part of the log: a look changes it.
    private func changing(
        _ id: IntakeID, of project: ProjectID,
        _ change: @escaping @Sendable (IntakeItem, Instant) throws(Refusal) -> IntakeItem
    ) -> Wish<IntakeItem> {
        .look { () throws(CommandError) in
            .answered(.success(try changed(id, of: project, change)))
        }
    }

    private func changed(
        _ id: IntakeID, of project: ProjectID,
        _ change: (IntakeItem, Instant) throws(Refusal) -> IntakeItem
    ) throws(CommandError) -> IntakeItem {
        let attempts = 5
        for _ in 0..<attempts {
            let item = try self.item(id, of: project)
            let changed = try rethrowing(as: CommandError.refused, change(item, ports.now()))
            // What was done before is answered when that is as safe as it would be now.
            let wanted = changed == item ? item.unrevised : changed
            if try queue.changeIntake(wanted) { return changed }
            // A worker or an admin was quicker: look at what they made of it.
        }
        throw .fault(.busy)
    }
}

extension AdminAct {
    fileprivate init(_ sender: Sender, _ reason: AdminReason) {
        self.init(actor: sender.actor, reason: reason.reason, ticket: reason.ticket)
    }
}
