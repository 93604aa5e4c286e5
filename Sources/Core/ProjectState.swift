/// All that a project's own stream says.
package struct ProjectState: Hashable, Sendable {
    package private(set) var version: Int64 = 0
    /// The version of the newest event that answers about customers may depend on.
    package private(set) var rulesVersion: Int64 = 0
    package private(set) var createdAt: Instant?
    package private(set) var keys: [Key] = []
    package private(set) var catalog = Catalog()
    /// 0 before the first catalog.
    package private(set) var catalogVersion: Int64 = 0
    /// In order of store and id.
    package private(set) var apps: [App] = []
    package private(set) var settings = ProjectSettings()

    package init() {}

    package var exists: Bool { createdAt != nil }

    package mutating func apply(_ event: Event, recordedAt: Instant) {
        version += 1
        if !event.isAboutKeys { rulesVersion = version }
        switch event {
        case .projectCreated:
            createdAt = recordedAt
        case .keyCreated(let created):
            keys.append(Key(created: created, createdAt: recordedAt))
        case .keyRevoked(let revoked):
            guard let index = keys.firstIndex(where: { $0.id == revoked.key }) else { return }
            keys[index].revokedAt = revoked.at
        case .catalogChanged(let changed):
            catalog = changed.catalog
            catalogVersion = changed.version
        case .appSet(let app):
            apps.removeAll { $0.key == app.key }
            apps.insert(app, at: apps.firstIndex { app.key < $0.key } ?? apps.endIndex)
        case .appRemoved(let removed):
            apps.removeAll { $0.key == removed.key }
        case .projectChanged(let changed):
            settings = changed
        default:
            // Customers' events have no place in a project's own stream.
            break
        }
    }

    package func key(_ id: KeyID) -> Key? {
        keys.first { $0.id == id }
    }

    package func app(_ key: AppKey) -> App? {
        apps.first { $0.key == key }
    }

    /// The apps whose sandbox purchases count in the customer's production answers.
    package func sandboxApps(for customer: CustomerID) -> Set<AppID> {
        Set(apps.filter { $0.sandboxAccess.includes(customer) }.map(\.key.id))
    }
}

/// A key to a project.
package struct Key: Hashable, Sendable {
    package let created: KeyCreated
    package let createdAt: Instant
    package internal(set) var revokedAt: Instant?

    package var id: KeyID { created.key }
}
