package import Core

/// A project's catalog and which one it is.
package struct CatalogAnswer: Hashable, Sendable {
    package let catalog: Catalog
    /// 0 before the first catalog.
    package let version: Int64
}

/// The wish to put a catalog in place of the project's.
package struct CatalogProposal: Sendable {
    package let catalog: Catalog
    /// The canonical form, which identifies a repeated wish.
    package let text: String
    /// The version that may be replaced; `nil`: whichever there is.
    package let basis: Int64?

    package init(catalog: Catalog, text: String, basis: Int64?) {
        self.catalog = catalog
        self.text = text
        self.basis = basis
    }
}

/// What a proposed catalog changes, or has changed.
package struct CatalogStep: Hashable, Sendable {
    /// The version that the project has.
    package let version: Int64
    package let changes: [CatalogChange]
    /// The catalog that is replaced.
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

/// What projects sell, and what changing that does.
package struct Catalogs: Sendable {
    let ledger: any EventLog
    let directory: any Directory
    let secrets: Secrets
    let now: @Sendable () -> Instant

    /// What the project sells now.
    package func catalog(of project: ProjectID) throws(CommandError) -> CatalogAnswer {
        let state = try ledger.existing(project)
        return CatalogAnswer(catalog: state.catalog, version: state.catalogVersion)
    }

    /// What applying the proposal would change. Nothing is written.
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

    /// The wish to put the proposed catalog in place of the project's, unless they are the same.
    package func applying(
        _ proposal: CatalogProposal, to project: ProjectID, by sender: Sender
    ) -> Wish<CatalogStep> {
        .look { () throws(CommandError) in
            let before = try ledger.existing(project)
            let cause = secrets.cause(of: sender, "change_catalog", [proposal.text])
            let command = Command.project(project, actor: sender.actor, cause: cause) {
                state, _ throws(Refusal) in
                try state.change(to: proposal.catalog, of: project, basis: proposal.basis)
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
            version: changed.version, from: old, to: changed.catalog, isApplied: true)
    }

    /// The catalog that a version took the place of: for a repetition, and for one of two admins.
    private func catalog(
        before version: Int64, of project: ProjectID
    ) throws(CommandError) -> Catalog {
        let pageLimit = 20
        var found = Catalog()
        var place: Int64 = 0
        while true {
            let page = try obtain(
                ledger.events(of: .ofProject(project), after: place, limit: pageLimit))
            guard let last = page.last else { return found }
            for entry in page {
                guard case .catalogChanged(let changed) = entry.recorded.event else { continue }
                if changed.version >= version { return found }
                found = changed.catalog
            }
            place = last.recorded.version
        }
    }
}
