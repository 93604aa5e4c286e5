/// An admin gave a customer an entitlement.
package struct GrantGiven: Deed {
    package let grant: GrantID
    package let entitlement: EntitlementID
    /// From when on; of a grant that waits, from when on it waits.
    package let start: Instant
    /// `nil`: until it is revoked.
    package let end: Instant?
    /// How long it lasts where it waits until nothing else gives the entitlement; `nil` where it does not wait.
    package let afterCurrent: CalendarDuration?
    package let reason: Reason
    package let ticket: Ticket?
    /// What was to be expected of it at that moment.
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

/// What was known of a grant when it was given. Nothing is decided by it; it tells people what they did.
package struct GrantOutlook: Hashable, Sendable {
    /// When a grant that waits was to begin; `nil` where what it waits for had no end, or where it does not wait.
    package var begins: Instant?
    /// What gave the entitlement for all of its time anyway, so that it changed no answer.
    package var givenAnyway: Entitlement.Source?

    package init(begins: Instant? = nil, givenAnyway: Entitlement.Source? = nil) {
        self.begins = begins
        self.givenAnyway = givenAnyway
    }
}

/// An admin gave a grant another end.
package struct GrantChanged: Deed {
    package let grant: GrantID
    package let entitlement: EntitlementID
    /// `nil`: until it is revoked, or as long as the length says.
    package let end: Instant?
    /// How long it lasts once it begins, where it waits for that.
    package let lasts: CalendarDuration?
    /// When it was to begin by then, where it waits for that.
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

/// An admin took a grant back.
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

extension EventType {
    static let grants: EventFamily = [
        .grantGiven: .ofCustomer(
            "grant.given", "{entitlement} was given{until}", .deed("gave the grant"),
            isAct: true),
        .grantChanged: .ofCustomer(
            "grant.changed", "The grant {grant} got another end{until}",
            .deed("gave the grant", " another end"), isAct: true),
        .grantRevoked: .ofCustomer(
            "grant.revoked", "The grant {grant} was revoked", .deed("revoked the grant"),
            isAct: true),
    ]
}
