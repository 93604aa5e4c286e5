extension ProjectState {
    package static let keyLimit = 1000

    /// Creates the project unless there is one of that name.
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

    /// Makes the key useless; nothing happens when that was done before.
    package func revoke(_ id: KeyID, now: Instant) throws(Refusal) -> [Event] {
        guard let key = key(id) else { throw .keyUnknown(id) }
        if key.revokedAt != nil { return [] }
        return [.keyRevoked(KeyRevoked(key: id, digest: key.created.digest, at: now))]
    }

    /// Says of the project's log that it counts as it is.
    package func accept(
        _ accepted: LogAccepted, of project: ProjectID
    ) throws(Refusal) -> [Event] {
        if !exists { throw .projectUnknown(project) }
        return [.logAccepted(accepted)]
    }

    /// Puts the catalog in place of the project's; nothing happens when they are the same. With a
    /// basis, only the catalog of that version is replaced.
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
