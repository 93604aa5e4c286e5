/// A project was created.
package struct ProjectCreated: EventContent {
    package let project: ProjectID
    package var subject: EventSubject { .project }

    package init(project: ProjectID) {
        self.project = project
    }
}

/// A key to a project was made. Only its digest is known.
package struct KeyCreated: EventContent {
    package let key: KeyID
    package let role: Role
    package let name: String
    /// SHA-256 of the key, in hexadecimal.
    package let digest: String
    package let limits: KeyLimits
    /// The key in whose place it came.
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

/// A key to a project stopped opening it.
package struct KeyRevoked: EventContent {
    package let key: KeyID
    package let digest: String
    package let at: Instant
    /// `nil` if none was given.
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

/// What a key may do: a set of permissions. A reader's are in every other one, and an admin has all.
package enum Role: String, Hashable, Sendable, CaseIterable {
    case reader
    /// Support staff: within the project's limits, with a ticket for each act, and without prices.
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

/// What a key may do.
package enum Permission: Hashable, Sendable {
    case read
    /// Give customers what they lack, as support staff do.
    case help
    /// Hand in what customers bought and spent.
    case submit
    /// Say that two customers are one person; back ends only as far as the project lets them.
    case merge
    /// Decide about customers, and about the project.
    case administer
}

/// The project's catalog was replaced.
package struct CatalogChanged: EventContent {
    /// 1 for the first catalog of a project, and one more with each.
    package let version: Int64
    package let catalog: Catalog
    /// `nil` if none was given.
    package let reason: Reason?
    package let ticket: Ticket?
    package var subject: EventSubject { .project }
    package var newestMember: LogFormat { reason == nil && ticket == nil ? .first : .readings }

    package init(
        version: Int64, catalog: Catalog, reason: Reason? = nil, ticket: Ticket? = nil
    ) {
        self.version = version
        self.catalog = catalog
        self.reason = reason
        self.ticket = ticket
    }
}

/// An operator said that the log counts as it is, though it may lack what was seen of it: after a backup was
/// restored, or after commits were lost in a failover. Each project is told, under the same id.
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

/// An app was taken out of the project.
package struct AppRemoved: EventContent {
    package let key: AppKey
    package var subject: EventSubject { .app(key) }

    package init(key: AppKey) {
        self.key = key
    }
}

/// What the operator lets keys of a project add to it: one app, or any.
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
