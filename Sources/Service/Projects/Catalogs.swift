package import Core

/// A project's catalog with its version.
package struct CatalogAnswer: Hashable, Sendable {
    package let catalog: Catalog
    /// 0 if the project does not have a catalog yet.
    package let version: Int64
}

/// A request to replace the project's catalog.
package struct CatalogProposal: Sendable {
    package let catalog: Catalog
    /// The canonical form, by which repeated requests are recognized.
    package let text: String
    /// The catalog version to replace; `nil` to replace any version.
    package let basis: Int64?

    package init(catalog: Catalog, text: String, basis: Int64?) {
        self.catalog = catalog
        self.text = text
        self.basis = basis
    }
}

/// What a proposed catalog would change, or has changed.
package struct CatalogStep: Hashable, Sendable {
    /// The project's version.
    package let version: Int64
    package let changes: [CatalogChange]
    package let old: Catalog
    package let new: Catalog
    package let isApplied: Bool

    init(version: Int64, from old: Catalog, to new: Catalog, isApplied: Bool) {
        self.version = version
        self.old = old
        self.new = new
        self.isApplied = isApplied
        changes = new.changes(from: old)
    }
}

/// Manages catalogs and shows the effects of changes.
package struct Catalogs: Sendable {
    let ledger: any EventLog
    let reading: any CustomerReading
    let directory: any Directory
    let secrets: Secrets
    let now: @Sendable () -> Instant

    package func catalog(of project: ProjectID) throws(CommandError) -> CatalogAnswer {
        let state = try ledger.existing(project)
        return CatalogAnswer(catalog: state.catalog, version: state.catalogVersion)
    }

    /// Returns the changes that applying the proposal would make. Nothing is written.
    package func compare(
        _ proposal: CatalogProposal, of project: ProjectID
    ) throws(CommandError) -> CatalogStep {
        let state = try ledger.existing(project)
        _ = try rethrowing(
            as: CommandError.refused,
            state.change(to: proposal.catalog, of: project, basis: proposal.basis))
        return CatalogStep(
            version: state.catalogVersion, from: state.catalog, to: proposal.catalog,
            isApplied: false)
    }

    /// Returns a request to replace the project's catalog with the proposal. Does nothing if the two are equal.
    package func applying(
        _ proposal: CatalogProposal, _ why: AdminReason? = nil, to project: ProjectID,
        by sender: Sender
    ) -> Wish<CatalogStep> {
        .look { () throws(CommandError) in
            let before = try ledger.existing(project)
            let cause = secrets.cause(
                of: sender, "change_catalog",
                [proposal.text] + (why.map { [$0.reason.text, $0.ticket?.text] } ?? []))
            let command = Command.project(project, actor: sender.actor, cause: cause) {
                state, _ throws(Refusal) in
                try state.change(
                    to: proposal.catalog, of: project, basis: proposal.basis, reason: why?.reason,
                    ticket: why?.ticket)
            }
            return Wish(command) { $0 }.thenLooking { outcome throws(CommandError) in
                try step(to: proposal, in: project, from: before, outcome)
            }
        }
    }

    private func step(
        to proposal: CatalogProposal, in project: ProjectID, from before: ProjectState,
        _ outcome: Outcome
    ) throws(CommandError) -> CatalogStep {
        guard case .catalogChanged(let changed) = outcome.events.first?.event else {
            let version = outcome.state.project?.catalogVersion ?? before.catalogVersion
            return CatalogStep(
                version: version, from: proposal.catalog, to: proposal.catalog, isApplied: false)
        }
        let isNext = changed.version == before.catalogVersion + 1
        let old = try isNext ? before.catalog : catalog(before: changed.version, of: project)
        return CatalogStep(
            version: changed.version, from: old, to: proposal.catalog, isApplied: true)
    }

    /// Returns how the event at this version of the project's own stream changed the catalog, and when; `nil` if it did
    /// not.
    package func past(
        at place: Int64, of project: ProjectID
    ) throws(CommandError) -> (step: CatalogStep, at: Instant)? {
        let found = try obtain(
            ledger.events(of: .ofProject(project), after: max(0, place - 1), limit: 1)
        ).first
        guard let found, found.recorded.version == place, let edition = found.edition
        else { return nil }
        let step = CatalogStep(
            version: edition.version, from: try catalog(before: edition.version, of: project),
            to: try obtain(reading.catalog(edition, of: project)), isApplied: true)
        return (step, edition.since)
    }

    /// Returns the catalog that a version replaced. Needed for a repetition, and when two admins act at once.
    private func catalog(
        before version: Int64, of project: ProjectID
    ) throws(CommandError) -> Catalog {
        let pageLimit = 20
        var found: CatalogEdition?
        var place: Int64 = 0
        var page: [LogEntry]
        repeat {
            page = try obtain(
                ledger.events(of: .ofProject(project), after: place, limit: pageLimit))
            let older = page.compactMap(\.edition).filter { $0.version < version }
            found = older.last ?? found
            place = page.last?.recorded.version ?? place
        } while !page.isEmpty && found?.version != version - 1
        guard let found else { return Catalog() }
        return try obtain(reading.catalog(found, of: project))
    }
}

extension LogEntry {
    /// The edition that the event began.
    fileprivate var edition: CatalogEdition? {
        guard case .catalogChanged(let changed) = recorded.event else { return nil }
        return CatalogEdition(changed, since: recorded.recordedAt)
    }
}
