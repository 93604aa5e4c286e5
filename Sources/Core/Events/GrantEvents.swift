/// An admin gave a customer an entitlement.
package struct GrantGiven: Deed {
    package let grant: GrantID
    package let entitlement: EntitlementID
    /// When the grant starts. For a grant that waits for other access to end, this is when the wait starts.
    package let start: Instant
    /// `nil` if the grant lasts until it is revoked.
    package let end: Instant?
    /// How long the grant lasts once nothing else gives the entitlement; `nil` for grants that do not wait.
    package let afterCurrent: CalendarDuration?
    package let reason: Reason
    package let ticket: Ticket?
    /// The effect that the grant was expected to have when it was given.
    package let outlook: GrantOutlook
    package var subject: EventSubject { .grant(grant) }

    package init(
        grant: GrantID, entitlement: EntitlementID, start: Instant, end: Instant?,
        afterCurrent: CalendarDuration? = nil, reason: Reason, ticket: Ticket?,
        outlook: GrantOutlook = GrantOutlook()
    ) {
        self.grant = grant
        self.entitlement = entitlement
        self.start = start
        self.end = end
        self.afterCurrent = afterCurrent
        self.reason = reason
        self.ticket = ticket
        self.outlook = outlook
    }
}

/// The expected effect of a grant when it was given. It informs people and does not affect any decision.
package struct GrantOutlook: Hashable, Sendable {
    /// When a waiting grant was expected to begin; `nil` if the access before it had no end, or if the grant does not
    /// wait.
    package var begins: Instant?
    /// The source that already gave the entitlement for the grant's whole duration. The grant then changed no answer.
    package var givenAnyway: Entitlement.Source?

    package init(begins: Instant? = nil, givenAnyway: Entitlement.Source? = nil) {
        self.begins = begins
        self.givenAnyway = givenAnyway
    }
}

/// An admin changed a grant's end.
package struct GrantChanged: Deed {
    package let grant: GrantID
    package let entitlement: EntitlementID
    /// `nil` if the grant lasts until it is revoked, or if its end depends on its length.
    package let end: Instant?
    /// How long a waiting grant lasts once it begins.
    package let lasts: CalendarDuration?
    /// When a waiting grant was expected to begin, as known when it was changed.
    package let begins: Instant?
    package let reason: Reason
    package let ticket: Ticket?
    package var subject: EventSubject { .grant(grant) }

    package init(
        grant: GrantID, entitlement: EntitlementID, end: Instant?,
        lasts: CalendarDuration? = nil, begins: Instant? = nil, reason: Reason, ticket: Ticket?
    ) {
        self.grant = grant
        self.entitlement = entitlement
        self.end = end
        self.lasts = lasts
        self.begins = begins
        self.reason = reason
        self.ticket = ticket
    }
}

/// An admin revoked a grant.
package struct GrantRevoked: Deed {
    package let grant: GrantID
    package let entitlement: EntitlementID
    package let at: Instant
    package let reason: Reason
    package let ticket: Ticket?
    package var subject: EventSubject { .grant(grant) }

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

extension GrantGiven {
    package func require(within bounds: SupportBounds) throws(Refusal) {
        try bounds.require(Grant(self))
        try bounds.requireTogether(entitlement, after: .grantGiven(self))
    }
}

extension GrantChanged {
    package func require(within bounds: SupportBounds) throws(Refusal) {
        guard let known = bounds.customer.grant(grant) else { return }
        // Support may neither change a grant that exceeds the limit nor make one exceed it.
        try bounds.require(known)
        try bounds.require(Grant(known.given, changed: self))
        try bounds.requireTogether(known.given.entitlement, after: .grantChanged(self))
    }
}

extension GrantRevoked {
    package func require(within bounds: SupportBounds) throws(Refusal) {
        if let known = bounds.customer.grant(grant) { try bounds.require(known) }
    }
}

extension EventType {
    static let grants: EventFamily = [
        .grantGiven: .ofCustomer(
            "grant.given", "{entitlement} was given{until}", .deed("gave the grant"),
            isAct: true),
        .grantChanged: .ofCustomer(
            "grant.changed", "The end of the grant {grant} changed{until}",
            .deed("gave the grant", " another end"), isAct: true),
        .grantRevoked: .ofCustomer(
            "grant.revoked", "The grant {grant} was revoked", .deed("revoked the grant"),
            isAct: true),
    ]
}
