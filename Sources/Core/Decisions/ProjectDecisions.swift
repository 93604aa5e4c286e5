extension ProjectState {
    /// Creates the project. Throws if a project with that name already exists.
    package func create(_ project: ProjectID) throws(Refusal) -> [Event] {
        if exists { throw .projectExists(project) }
        try project.requireProperForm()
        return [.projectCreated(ProjectCreated(project: project))]
    }

    /// Accepts the project's log as it is.
    package func accept(
        _ accepted: LogAccepted, of project: ProjectID
    ) throws(Refusal) -> [Event] {
        if !exists { throw .projectUnknown(project) }
        return [.logAccepted(accepted)]
    }

    /// Replaces the project's catalog. Does nothing if the two are equal. Throws if `basis` is given and the current
    /// catalog has a different version.
    package func change(
        to catalog: Catalog, of project: ProjectID, basis: Int64? = nil, reason: Reason? = nil,
        ticket: Ticket? = nil
    ) throws(Refusal) -> [Event] {
        if !exists { throw .projectUnknown(project) }
        if catalog == self.catalog { return [] }
        if let basis, basis != catalogVersion {
            throw .catalogChangedMeanwhile(found: catalogVersion)
        }
        try catalog.requireProperForms(after: self.catalog)
        return [
            .catalogChanged(
                CatalogChanged(
                    version: catalogVersion + 1, catalog: catalog, reason: reason, ticket: ticket))
        ]
    }
}
