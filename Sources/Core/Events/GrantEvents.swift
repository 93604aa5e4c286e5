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
