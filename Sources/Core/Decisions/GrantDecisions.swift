/// A request to give a customer an entitlement.
package struct GiveGrant: Hashable, Sendable {
    package enum End: Hashable, Sendable {
        case never
        case at(Instant)
        case after(CalendarDuration)
    }
    package let grant: GrantID
    package let entitlement: EntitlementID
    /// `nil`: from now on.
    package let start: Instant?
    package let end: End
    package let reason: Reason
    package let ticket: Ticket?

    package init(
        grant: GrantID, entitlement: EntitlementID, start: Instant?, end: End, reason: Reason,
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

/// A request to revoke a grant.
package struct RevokeGrant: Hashable, Sendable {
    package let grant: GrantID
    package let reason: Reason
    package let ticket: Ticket?

    package init(grant: GrantID, reason: Reason, ticket: Ticket?) {
        self.grant = grant
        self.reason = reason
        self.ticket = ticket
    }
}

extension CustomerState {
    package static let grantLimit = 10_000

    /// Gives the entitlement, now or at its start.
    package func decide(_ wish: GiveGrant, now: Instant) throws(Refusal) -> [Event] {
        if grants.count >= CustomerState.grantLimit {
            throw .tooManyGrants(limit: CustomerState.grantLimit)
        }
        let start = wish.start ?? now
        let end: Instant? =
            switch wish.end {
            case .never: nil
            case .at(let end): end
            case .after(let duration): duration.end(after: start)
            }
        if let end, end <= start { throw .grantEndsBeforeItStarts(start: start, end: end) }
        // The log stores instants as text and could not read this one back.
        if let end, !Instant.writable.contains(end) { throw .grantEndsTooLate }
        return [
            .grantGiven(
                GrantGiven(
                    grant: wish.grant, entitlement: wish.entitlement, start: start, end: end,
                    reason: wish.reason, ticket: wish.ticket))
        ]
    }

    /// Revokes the grant from now on; does nothing if it is revoked already.
    package func decide(_ wish: RevokeGrant, now: Instant) throws(Refusal) -> [Event] {
        guard let grant = grant(wish.grant) else { throw .grantUnknown(wish.grant) }
        if grant.revocation != nil { return [] }
        if let end = grant.given.end, end <= now { throw .grantEnded(wish.grant, at: end) }
        return [
            .grantRevoked(
                GrantRevoked(
                    grant: wish.grant, entitlement: grant.given.entitlement, at: now,
                    reason: wish.reason, ticket: wish.ticket))
        ]
    }
}
