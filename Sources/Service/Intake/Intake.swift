package import Core

/// Receives evidence: verifies it, queues what cannot be verified yet, and queries the stores.
package struct Intake: Sendable {
    package var ledger: any EventLog
    package var directory: any Directory
    let accounts: any StoreAccounts
    package var credentials: any CredentialKeeper
    package let secrets: Secrets
    package let now: @Sendable () -> Instant
    package let machineClock: @Sendable () -> Instant
    package var queue: any IntakeQueue
    let archive: any EvidenceArchive
    package var stores: [Store: StoreAdapter]
    /// Whether production evidence counts. Under a test clock, it does not.
    package let takesProduction: Bool

    package init(
        _ ports: Ports, _ ledger: some IntakeQueue & EvidenceArchive, stores: [StoreAdapter],
        takesProduction: Bool = true
    ) {
        self.ledger = ports.ledger
        (directory, accounts) = (ports.directory, ports.accounts)
        (credentials, secrets) = (ports.credentials, ports.secrets)
        (now, machineClock) = (ports.now, ports.machineClock)
        queue = ledger
        archive = ledger
        self.stores = Dictionary(stores.map { ($0.profile.store, $0) }) { first, _ in first }
        self.takesProduction = takesProduction
    }

    /// The latest instant at which evidence may have been signed. The store's clock is close to the
    /// machine's clock, or to a test clock that is ahead of it.
    var evidenceClock: Instant { max(now(), machineClock()) }
}

extension Intake {
    /// Queues evidence that cannot be judged yet. The same evidence for the same purpose is queued
    /// only once. If judging it was already attempted, the item waits for whatever was missing.
    package func hold(
        _ evidence: RawEvidence, _ purpose: IntakeWish.Purpose, order: OrderID?,
        heading: EvidenceHeading, of project: ProjectID, until wait: Postponement? = nil
    ) throws(CommandError) -> IntakeItem {
        let wish = IntakeWish(project: project, purpose: purpose, order: order, heading: heading)
        let item = IntakeItem(secrets.newID(prefix: "i_"), wish, now: now())
        let added = try obtain(queue.addIntake(item, evidence.bytes))
        guard let added else { throw .refused(.intake(.full)) }
        guard let wait, added.state.word == .waiting, added.tries == 0, added.reason == nil
        else { return added }
        let judged = added.judged(
            .undecided(wait), now: now(), jitter: secrets.jitter)
        // If a worker changed the item first, the worker's result stays.
        return try queue.changeIntake(judged) ? judged : added
    }

    /// Returns the state of queued evidence.
    package func item(
        _ id: IntakeID, of project: ProjectID
    ) throws(CommandError) -> IntakeItem {
        let found = try obtain(queue.intake(id, of: project))
        guard let found else { throw .refused(.intake(.unknown(id))) }
        return found
    }

    /// Returns the names of the keys with which people closed a project's items.
    package func actorNames(
        of items: [IntakeItem], in project: ProjectID
    ) throws(Fault) -> [Actor: String] {
        let actors = items.compactMap(\.act?.actor)
        return actors.isEmpty ? [:] : try ledger.project(project).names(of: actors)
    }

    /// Returns up to a page of items from a project's queue, starting after the given item, oldest
    /// first.
    package func items(
        of project: ProjectID, in state: IntakeItem.State.Word?, after id: IntakeID? = nil,
        limit: Int
    ) throws(CommandError) -> [IntakeItem] {
        _ = try ledger.existing(project)
        let last = try id.map { id throws(CommandError) in try item(id, of: project) }
        return try obtain(queue.intake(of: project, in: state, after: last, limit: limit))
    }

    /// Returns a request to change an item as a person has decided. The queue changes in a lookup step, because it is
    /// not part of the log.
    package func deciding(
        _ decision: IntakeDecision, about id: IntakeID, of project: ProjectID, reason: AdminReason,
        by sender: Sender
    ) -> Wish<IntakeItem> {
        .look { () throws(CommandError) in
            let act = AdminAct(sender, reason)
            let item = try changed(id, of: project) { item, now throws(Refusal) in
                try item.decided(decision, by: act, now: now)
            }
            return .answered(.success(item))
        }
    }

    private func changed(
        _ id: IntakeID, of project: ProjectID,
        _ change: (IntakeItem, Instant) throws(Refusal) -> IntakeItem
    ) throws(CommandError) -> IntakeItem {
        let attempts = 5
        for _ in 0..<attempts {
            let item = try self.item(id, of: project)
            let changed = try rethrowing(as: CommandError.refused, change(item, now()))
            // A repeated change gets its answer only once the earlier change is as durable as a new
            // one would be.
            let wanted = changed == item ? item.unrevised : changed
            if try queue.changeIntake(wanted) { return changed }
            // A worker or an admin changed the item first, so it must be read again.
        }
        throw .fault(.busy)
    }
}

extension Secrets {
    /// A random number that keeps items that failed together from being retried together.
    var jitter: UInt16 { randomBytes(2).reduce(0) { $0 << 8 | UInt16($1) } }
}

extension AdminAct {
    fileprivate init(_ sender: Sender, _ reason: AdminReason) {
        self.init(actor: sender.actor, reason: reason.reason, ticket: reason.ticket)
    }
}
