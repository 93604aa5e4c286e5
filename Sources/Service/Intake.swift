package import Core

extension Ports {
    /// Queues evidence that nobody can judge yet. The same evidence for the same purpose waits once,
    /// whoever sends it how often.
    package func queue(
        _ evidence: RawEvidence, _ purpose: IntakeWish.Purpose, order: OrderID?,
        heading: EvidenceHeading, of project: ProjectID
    ) throws(CommandError) -> IntakeItem {
        let wish = IntakeWish(project: project, purpose: purpose, order: order, heading: heading)
        let item = IntakeItem(secrets.newID(prefix: "i_"), wish, now: now())
        let added = try obtain { () throws(Fault) in try intake.add(item, evidence.bytes) }
        guard let added else { throw .refused(.intakeFull) }
        return added
    }

    /// What became of queued evidence.
    package func intakeItem(
        _ id: IntakeID, of project: ProjectID
    ) throws(CommandError) -> IntakeItem {
        let found = try obtain { () throws(Fault) in try intake.find(project, id) }
        guard let found else { throw .refused(.intakeUnknown(id)) }
        return found
    }

    /// Some of a project's queue, oldest first.
    package func intakeItems(
        _ filter: IntakeFilter, of project: ProjectID
    ) throws(CommandError) -> [IntakeItem] {
        try requireProject(project)
        return try obtain { () throws(Fault) in try intake.list(project, filter) }
    }

    /// The wish to end an item that support staff took care of in another way.
    package func settlingIntake(
        _ id: IntakeID, of project: ProjectID, reason: AdminReason, by sender: Sender
    ) -> Wish<IntakeItem> {
        changingIntake(id, of: project) { item, now throws(Refusal) in
            try item.settled(by: AdminAct(sender, reason), now: now)
        }
    }

    /// The wish to end an item of which nothing is to come.
    package func droppingIntake(
        _ id: IntakeID, of project: ProjectID, reason: AdminReason, by sender: Sender
    ) -> Wish<IntakeItem> {
        changingIntake(id, of: project) { item, now throws(Refusal) in
            try item.dropped(by: AdminAct(sender, reason), now: now)
        }
    }

    /// The wish to have an item judged now, as if it had just come, also one that was refused or ended
    /// by hand.
    package func retryingIntake(
        _ id: IntakeID, of project: ProjectID, reason: AdminReason, by sender: Sender
    ) -> Wish<IntakeItem> {
        changingIntake(id, of: project) { item, now throws(Refusal) in
            try item.retried(by: AdminAct(sender, reason), now: now)
        }
    }

    /// The queue is no part of the log: it is changed by a look.
    private func changingIntake(
        _ id: IntakeID, of project: ProjectID,
        _ change: @escaping @Sendable (IntakeItem, Instant) throws(Refusal) -> IntakeItem
    ) -> Wish<IntakeItem> {
        .look { () throws(CommandError) in
            .answered(.success(try changeIntake(id, of: project, change)))
        }
    }

    private func changeIntake(
        _ id: IntakeID, of project: ProjectID,
        _ change: (IntakeItem, Instant) throws(Refusal) -> IntakeItem
    ) throws(CommandError) -> IntakeItem {
        let attempts = 5
        for _ in 0..<attempts {
            let item = try intakeItem(id, of: project)
            let changed: IntakeItem
            do throws(Refusal) {
                changed = try change(item, now())
            } catch {
                throw .refused(error)
            }
            if changed == item { return item }
            if try intake.change(changed) { return changed }
            // A worker, or somebody else, was quicker: look at what they made of it.
        }
        throw .fault(.busy)
    }
}

extension AdminAct {
    fileprivate init(_ sender: Sender, _ reason: AdminReason) {
        self.init(actor: sender.actor, reason: reason.reason, ticket: reason.ticket)
    }
}
