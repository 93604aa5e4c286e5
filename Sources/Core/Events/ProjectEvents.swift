package struct ProjectCreated: EventContent {
    package let project: ProjectID
    package var subject: EventSubject { .project }

    package init(project: ProjectID) {
        self.project = project
    }
}

/// A key to a project was created. Only its digest is stored.
package struct KeyCreated: EventContent {
    package let key: KeyID
    package let role: Role
    package let name: String
    /// The SHA-256 of the key, in hexadecimal.
    package let digest: String
    package let limits: KeyLimits
    /// The key that this one replaces.
    package let replaced: KeyID?
    package var subject: EventSubject { .key(digest: digest) }

    package init(
        key: KeyID, role: Role, name: String, digest: String, limits: KeyLimits = KeyLimits(),
        replacing replaced: KeyID? = nil
    ) {
        self.key = key
        self.role = role
        self.name = name
        self.digest = digest
        self.limits = limits
        self.replaced = replaced
    }
}

package struct KeyRevoked: EventContent {
    package let key: KeyID
    package let digest: String
    package let at: Instant
    /// `nil` if no reason was given.
    package let reason: Reason?
    package let ticket: Ticket?
    package var subject: EventSubject { .key(digest: digest) }
    package var newestMember: LogFormat { reason == nil && ticket == nil ? .first : .readings }

    package init(
        key: KeyID, digest: String, at: Instant, reason: Reason? = nil, ticket: Ticket? = nil
    ) {
        self.key = key
        self.digest = digest
        self.at = at
        self.reason = reason
        self.ticket = ticket
    }
}

/// A key's role, which is a set of permissions. Every other role includes the reader's permissions, and an admin has
/// all permissions.
package enum Role: String, Hashable, Sendable, CaseIterable {
    case reader
    /// Support staff. They act within the project's limits, give a ticket for each action, and do
    /// not see prices.
    case support
    case backend
    case admin

    package var permissions: Set<Permission> {
        switch self {
        case .reader: [.read]
        case .support: [.read, .help, .merge]
        case .backend: [.read, .submit, .merge]
        case .admin: [.read, .help, .submit, .merge, .administer]
        }
    }
}

/// A permission that a key can have.
package enum Permission: Hashable, Sendable {
    case read
    /// Give customers what they lack, as support staff do.
    case help
    /// Submit customers' purchases and spends.
    case submit
    /// Merge two customers who are the same person. Back ends may do so only as far as the project
    /// allows.
    case merge
    /// Make decisions about customers and about the project.
    case administer
}

package struct CatalogChanged: EventContent {
    /// 1 for a project's first catalog, and incremented with each new one.
    package let version: Int64
    /// `nil` if the catalog is stored under its digest.
    package let catalog: Catalog?
    /// The SHA-256 of the catalog's canonical form; `nil` if the event contains the catalog.
    package let digest: [UInt8]?
    /// `nil` if no reason was given.
    package let reason: Reason?
    package let ticket: Ticket?
    package var subject: EventSubject { .project }
    package var newestMember: LogFormat {
        digest == nil && reason == nil && ticket == nil ? .first : .readings
    }

    package init(
        version: Int64, catalog: Catalog, reason: Reason? = nil, ticket: Ticket? = nil
    ) {
        self.version = version
        self.catalog = catalog
        digest = nil
        self.reason = reason
        self.ticket = ticket
    }

    package init(
        version: Int64, digest: [UInt8], reason: Reason? = nil, ticket: Ticket? = nil
    ) {
        self.version = version
        catalog = nil
        self.digest = digest
        self.reason = reason
        self.ticket = ticket
    }

    /// Returns the same change, with the catalog stored under its digest.
    package func filed(under digest: [UInt8]) -> CatalogChanged {
        CatalogChanged(version: version, digest: digest, reason: reason, ticket: ticket)
    }
}

/// An operator accepted the log as it is, although it may lack events that were seen before a backup was
/// restored or before a failover lost commits. Each project records the acceptance under the same id.
package struct LogAccepted: EventContent {
    package let acceptance: AcceptanceID
    package let reason: Reason
    package let ticket: Ticket?
    package var subject: EventSubject { .project }

    package init(acceptance: AcceptanceID, reason: Reason, ticket: Ticket?) {
        self.acceptance = acceptance
        self.reason = reason
        self.ticket = ticket
    }
}

package struct AppRemoved: EventContent {
    package let key: AppKey
    package var subject: EventSubject { .app(key) }

    package init(key: AppKey) {
        self.key = key
    }
}

/// Which apps the operator allows the project's keys to add: one app, or any app.
package enum AppAllowance: EventContent {
    case app(AppKey)
    case any

    package var subject: EventSubject { .project }
}

extension EventType {
    static let projects: EventFamily = [
        .projectCreated: .ofProject("project.created", changesAnswers: true),
        .catalogChanged: .ofProject("catalog.changed", changesAnswers: true),
        .projectChanged: .ofProject("project.changed", changesAnswers: true),
        .logAccepted: .ofProject("log.accepted", changesAnswers: false),
        .appSet: .ofProject("app.set", changesAnswers: true),
        .appRemoved: .ofProject("app.removed", changesAnswers: true),
        .appAllowed: .ofProject("app.allowed", changesAnswers: false),
        .appDisallowed: .ofProject("app.disallowed", changesAnswers: false),
        .webhookSet: .ofProject("webhook.set", changesAnswers: false),
        .webhookRemoved: .ofProject("webhook.removed", changesAnswers: false),
        .reconciliationStarted: .ofProject("reconciliation.started", changesAnswers: false),
        .reconciliationFinished: .ofProject(
            "reconciliation.finished", changesAnswers: false, isAct: false),
    ]
}
