/// The folded state of a project's own stream.
package struct ProjectState: Hashable, Sendable {
    private static let empty = Shared(ProjectContent())

    private var content = ProjectState.empty

    package init() {}

    package var version: Int64 { content.value.version }
    /// The version of the newest event that can affect answers about customers.
    package var rulesVersion: Int64 { content.value.rulesVersion }
    package var createdAt: Instant? { content.value.createdAt }
    package var keys: [Key] { content.value.keys }
    /// The current catalog. If `lackedEdition` is set, the caller must first read that edition's catalog and supply it.
    package var catalog: Catalog { content.value.editions.last?.contents ?? Catalog() }
    /// The current edition, if its catalog is neither in the folded events nor supplied.
    package var lackedEdition: CatalogEdition? {
        content.value.editions.last.flatMap { $0.catalog == nil ? $0 : nil }
    }
    /// The current edition; version 0 if the project does not have a catalog yet.
    package var currentEdition: CatalogEdition { content.value.editions.last ?? .none }
    /// 0 if the project does not have a catalog yet.
    package var catalogVersion: Int64 { content.value.editions.last?.version ?? 0 }
    /// The newest editions, oldest first. Only the last one has its catalog.
    var editions: [CatalogEdition] { content.value.editions }
    /// The project's apps, sorted by store and id.
    package var apps: [App] { content.value.apps }
    /// The apps that the project's keys may add.
    package var allowances: AppAllowances { content.value.allowances }
    package var settings: ProjectSettings { content.value.settings }
    /// The project's webhooks, oldest first.
    package var webhooks: [Webhook] { content.value.webhooks }

    /// The newest reconciliations, oldest first.
    package var reconciliations: [Reconciliation] { content.value.reconciliations }

    /// When the newest reconciliation that included all steps ended.
    package var reconciledAt: Instant? { content.value.soundness.reconciledAt }
    /// The newest reconciliation that included all steps and has ended, unless it was long ago.
    package var lastWholeReconciliation: Reconciliation? {
        reconciliations.last { $0.started.plan.isWhole && $0.finished != nil }
    }

    /// Returns the instant since which the project has not been reconciled. After a clock was ahead, `reconciledAt`
    /// stays ahead as well, and only the beginning of the last run tells when that was.
    package func unreconciledSince(by now: Instant) -> Instant {
        let end = reconciledAt ?? createdAt ?? now
        if end <= now { return end }
        let begin = lastWholeReconciliation?.begunAt
        return [begin, createdAt].compactMap(\.self).first { $0 <= now } ?? now
    }

    /// Whether the last check of each step was sound; `nil` before the first reconciliation.
    package var isSound: Bool? { content.value.soundness.isSound }

    /// The reconciliation requested from a service, until it ends.
    package var requestedReconciliation: Reconciliation? {
        reconciliations.last { $0.started.isRequested && $0.finished == nil }
    }

    /// Accepted losses, oldest first.
    package var acceptances: [AcceptanceID] { content.value.acceptances }

    package var exists: Bool { createdAt != nil }

    /// Without `occurredAt`, the event occurred when it was recorded.
    package mutating func apply(
        _ event: Event, recordedAt: Instant, occurredAt: Instant? = nil
    ) {
        content.change {
            $0.apply(event, recordedAt: recordedAt, occurredAt: occurredAt ?? recordedAt)
        }
    }

    /// Gives the state its current catalog.
    package mutating func supply(_ catalog: Catalog) {
        content.change { $0.editions[$0.editions.count - 1].catalog = catalog }
    }

    package func key(_ id: KeyID) -> Key? {
        content.value.keyPlaces[id].map { content.value.keys[$0] }
    }

    package func app(_ key: AppKey) -> App? {
        apps.first { $0.key == key }
    }

    /// Returns the version at which an app that is still in the project was added.
    package func versionOfArrival(of key: AppKey) -> Int64? { content.value.arrivals[key] }

    /// Returns the apps whose sandbox purchases count in the customer's production answers.
    package func sandboxApps(for customer: CustomerID) -> Set<AppKey> {
        Set(apps.filter { $0.sandboxAccess.includes(customer) }.map(\.key))
    }
}

private struct ProjectContent: Hashable, Sendable {
    var version: Int64 = 0
    var rulesVersion: Int64 = 0
    var createdAt: Instant?
    var keys: [Key] = []
    /// The index of each key in `keys`.
    var keyPlaces: [KeyID: Int] = [:]
    var editions = [CatalogEdition.none]
    var reconciliations: [Reconciliation] = []
    var soundness = Soundness()
    var acceptances: [AcceptanceID] = []
    var apps: [App] = []
    var allowances = AppAllowances()
    /// The version at which each app was added.
    var arrivals: [AppKey: Int64] = [:]
    var settings = ProjectSettings()
    var webhooks: [Webhook] = []

    mutating func apply(_ event: Event, recordedAt: Instant, occurredAt: Instant) {
        version += 1
        if event.type.changesAnswers { rulesVersion = version }
        switch event {
        case .projectCreated:
            createdAt = recordedAt
        case .keyCreated(let created):
            keyPlaces[created.key] = keyPlaces[created.key] ?? keys.count
            keys.append(Key(created: created, createdAt: recordedAt))
        case .keyRevoked(let revoked):
            guard let index = keyPlaces[revoked.key] else { return }
            keys[index].revokedAt = revoked.at
        case .keyRotated(let rotated):
            guard let index = keyPlaces[rotated.key] else { return }
            keys[index].rotated = rotated
        case .catalogChanged(let changed):
            if let last = editions.indices.last, editions[last].version > 0 {
                editions[last].catalog = nil
            }
            editions.append(CatalogEdition(changed, since: recordedAt))
            editions.removeFirst(max(0, editions.count - CatalogEdition.limit))
        case .appSet(let app):
            apps.removeAll { $0.key == app.key }
            arrivals[app.key] = arrivals[app.key] ?? version
            apps.insert(app, at: apps.firstIndex { app.key < $0.key } ?? apps.endIndex)
        case .appRemoved(let removed):
            apps.removeAll { $0.key == removed.key }
            arrivals[removed.key] = nil
        case .appAllowed(let allowance): allowances.add(allowance)
        case .appDisallowed(let allowance): allowances.remove(allowance)
        case .projectChanged(let changed):
            settings = changed
        case .reconciliationStarted(let started):
            reconciliations.append(
                Reconciliation(started: started, startedAt: recordedAt, begunAt: occurredAt))
            reconciliations.removeFirst(max(0, reconciliations.count - Reconciliation.limit))
        case .reconciliationFinished(let finished):
            let index = reconciliations.lastIndex { $0.id == finished.reconciliation }
            guard let index else { return }
            reconciliations[index].finished = finished
            reconciliations[index].finishedAt = recordedAt
            soundness.apply(
                finished, of: reconciliations[index].started.plan, endedAt: recordedAt)
        case .logAccepted(let accepted):
            acceptances.append(accepted.acceptance)
        case .webhookSet(let webhook):
            let known = webhooks.firstIndex { $0.id == webhook.id }
            if let known { webhooks[known] = webhook } else { webhooks.append(webhook) }
        case .webhookRemoved(let removed): webhooks.removeAll { $0.id == removed.webhook }
        default:
            assert(!event.type.isOfProject, "a project's state cannot apply \(event.type)")
        }
    }
}
