extension ProjectState {
    package static let keyLimit = 1000

    /// Creates the project unless one with that name exists.
    package func create(_ project: ProjectID) throws(Refusal) -> [Event] {
        if exists { throw .projectExists(project) }
        try project.requireProperForm()
        return [.projectCreated(ProjectCreated(project: project))]
    }

    /// Adds a key to the project.
    package func add(_ key: KeyCreated, to project: ProjectID) throws(Refusal) -> [Event] {
        if !exists { throw .projectUnknown(project) }
        let live = keys.count { $0.revokedAt == nil }
        if live >= ProjectState.keyLimit { throw .tooManyKeys(limit: ProjectState.keyLimit) }
        return [.keyCreated(key)]
    }

    /// Disables the key; does nothing if it is disabled already.
    package func revoke(_ id: KeyID, now: Instant) throws(Refusal) -> [Event] {
        guard let key = key(id) else { throw .keyUnknown(id) }
        if key.revokedAt != nil { return [] }
        return [.keyRevoked(KeyRevoked(key: id, digest: key.created.digest, at: now))]
    }

    /// Accepts the project's log as it is.
    package func accept(
        _ accepted: LogAccepted, of project: ProjectID
    ) throws(Refusal) -> [Event] {
        if !exists { throw .projectUnknown(project) }
        return [.logAccepted(accepted)]
    }

    /// Replaces the project's catalog; does nothing if they are equal. With a basis, replaces only
    /// the catalog of that version.
    package func change(
        to catalog: Catalog, of project: ProjectID, basis: Int64? = nil
    ) throws(Refusal) -> [Event] {
        if !exists { throw .projectUnknown(project) }
        if catalog == self.catalog { return [] }
        if let basis, basis != catalogVersion {
            throw .catalogChangedMeanwhile(found: catalogVersion)
        }
        try catalog.requireProperForms(after: self.catalog)
        return [.catalogChanged(CatalogChanged(version: catalogVersion + 1, catalog: catalog))]
    }
}
