/// What happened, as it is kept for ever. Each carries its fact whole, so that it can be read alone.
package enum Event: Hashable, Sendable {
    case projectCreated(ProjectCreated)
    case keyCreated(KeyCreated)
    case keyRevoked(KeyRevoked)
    case grantGiven(GrantGiven)
    case grantRevoked(GrantRevoked)
}

/// An event with its place in the ledger.
package struct RecordedEvent: Hashable, Sendable {
    package let stream: Stream
    package let version: Int64
    package let position: Position
    package let event: Event
    /// When it happened, by the clock of whoever reported it.
    package let occurredAt: Instant
    /// When it was recorded, by Deed's clock.
    package let recordedAt: Instant
    package let actor: Actor
    package let cause: String
    package let catalogVersion: Int64

    package init(
        stream: Stream, version: Int64, position: Position, event: Event, record: EventRecord
    ) {
        self.stream = stream
        self.version = version
        self.position = position
        self.event = event
        occurredAt = record.occurredAt
        recordedAt = record.recordedAt
        actor = record.actor
        cause = record.cause
        catalogVersion = record.catalogVersion
    }
}

/// The circumstances of an event: when, who, why.
package struct EventRecord: Hashable, Sendable {
    package var occurredAt: Instant
    package var recordedAt: Instant
    package var actor: Actor
    package var cause: String
    package var catalogVersion: Int64

    package init(
        occurredAt: Instant, recordedAt: Instant, actor: Actor, cause: String,
        catalogVersion: Int64
    ) {
        self.occurredAt = occurredAt
        self.recordedAt = recordedAt
        self.actor = actor
        self.cause = cause
        self.catalogVersion = catalogVersion
    }
}

/// An admin gave a customer an entitlement.
package struct GrantGiven: Hashable, Sendable {
    package let grant: GrantID
    package let entitlement: EntitlementID
    package let start: Instant
    /// `nil`: until it is revoked.
    package let end: Instant?
    package let reason: Reason
    package let ticket: Ticket?

    package init(
        grant: GrantID, entitlement: EntitlementID, start: Instant, end: Instant?, reason: Reason,
        ticket: Ticket?
    ) {
        self.grant = grant
        self.entitlement = entitlement
        self.start = start
        self.end = end
        self.reason = reason
        self.ticket = ticket
    }
}

/// An admin took a grant back.
package struct GrantRevoked: Hashable, Sendable {
    package let grant: GrantID
    package let entitlement: EntitlementID
    package let at: Instant
    package let reason: Reason
    package let ticket: Ticket?

    package init(
        grant: GrantID, entitlement: EntitlementID, at: Instant, reason: Reason, ticket: Ticket?
    ) {
        self.grant = grant
        self.entitlement = entitlement
        self.at = at
        self.reason = reason
        self.ticket = ticket
    }
}

/// Somebody created a project.
package struct ProjectCreated: Hashable, Sendable {
    package let project: ProjectID

    package init(project: ProjectID) {
        self.project = project
    }
}

/// A key to a project was made. Only its digest is known.
package struct KeyCreated: Hashable, Sendable {
    package let key: KeyID
    package let role: Role
    package let name: String
    /// SHA-256 of the key, in hexadecimal.
    package let digest: String

    package init(key: KeyID, role: Role, name: String, digest: String) {
        self.key = key
        self.role = role
        self.name = name
        self.digest = digest
    }
}

/// A key to a project stopped opening it.
package struct KeyRevoked: Hashable, Sendable {
    package let key: KeyID
    package let digest: String
    package let at: Instant

    package init(key: KeyID, digest: String, at: Instant) {
        self.key = key
        self.digest = digest
        self.at = at
    }
}

/// What a key may do; each role may do all that the ones before it may.
package enum Role: String, Hashable, Sendable, CaseIterable, Comparable {
    case reader
    case backend
    case admin

    private var strength: Int {
        switch self {
        case .reader: 0
        case .backend: 1
        case .admin: 2
        }
    }

    package static func < (one: Role, other: Role) -> Bool { one.strength < other.strength }
}
