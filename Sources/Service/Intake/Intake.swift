package import Core

/// Takes in evidence: proves it, queues it while it cannot be proven, and asks the stores.
package struct Intake: Sendable {
    package var ports: Ports
    package var queue: any IntakeQueue
    let archive: any EvidenceArchive
    package var stores: [Store: StoreAdapter]
    /// Whether production evidence counts: not under a test clock.
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
    /// Queues evidence that cannot be judged yet. The same evidence for the same purpose is queued once,
    /// however often it is sent.
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

    /// The fate of queued evidence.
    package func item(
        _ id: IntakeID, of project: ProjectID
    ) throws(CommandError) -> IntakeItem {
        let found = try obtain(queue.intake(id, of: project))
        guard let found else { throw .refused(.intakeUnknown(id)) }
        return found
    }

    /// Some items of a project's queue, oldest first.
    package func items(
        of project: ProjectID, in state: IntakeItem.State.Word?, limit: Int
    ) throws(CommandError) -> [IntakeItem] {
        _ = try ports.ledger.existing(project)
        return try obtain(queue.intake(of: project, in: state, after: nil, limit: limit))
    }

    /// A request to end an item that support staff resolved in another way.
    package func settling(
        _ id: IntakeID, of project: ProjectID, reason: AdminReason, by sender: Sender
    ) -> Wish<IntakeItem> {
        changing(id, of: project) { item, now throws(Refusal) in
            try item.settled(by: AdminAct(sender, reason), now: now)
        }
    }

    /// A request to end an item that should have no effect.
    package func dropping(
        _ id: IntakeID, of project: ProjectID, reason: AdminReason, by sender: Sender
    ) -> Wish<IntakeItem> {
        changing(id, of: project) { item, now throws(Refusal) in
            try item.dropped(by: AdminAct(sender, reason), now: now)
        }
    }

    /// A request to have an item judged now like a new one, even if it was refused or ended by hand.
    package func retrying(
        _ id: IntakeID, of project: ProjectID, reason: AdminReason, by sender: Sender
    ) -> Wish<IntakeItem> {
        changing(id, of: project) { item, now throws(Refusal) in
            try item.retried(by: AdminAct(sender, reason), now: now)
        }
    }

    /// The queue is not part of the log, so a lookup step makes the change.
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
            // An earlier change is answered once it is as safe as a new one.
            let wanted = changed == item ? item.unrevised : changed
            if try queue.changeIntake(wanted) { return changed }
            // A worker or an admin was faster: look at their result.
        }
        throw .fault(.busy)
    }
}

extension AdminAct {
    fileprivate init(_ sender: Sender, _ reason: AdminReason) {
        self.init(actor: sender.actor, reason: reason.reason, ticket: reason.ticket)
    }
}
