/// A request to give a customer an entitlement.
package struct GiveGrant: Hashable, Sendable {
    package enum End: Hashable, Sendable {
        case never
        case at(Instant)
        case after(CalendarDuration)
    }

    package enum Time: Hashable, Sendable {
        /// The grant begins at the given start, or immediately if there is none.
        case from(Instant?, until: End)
        /// The grant begins once no other source gives the entitlement, and lasts this long.
        case afterCurrent(CalendarDuration)
    }
    package let grant: GrantID
    package let entitlement: EntitlementID
    package let time: Time
    package let reason: Reason
    package let ticket: Ticket?

    package init(
        grant: GrantID, entitlement: EntitlementID, time: Time, reason: Reason, ticket: Ticket?
    ) {
        self.grant = grant
        self.entitlement = entitlement
        self.time = time
        self.reason = reason
        self.ticket = ticket
    }
}

/// A request to change a grant's end.
package struct ChangeGrant: Hashable, Sendable {
    package let grant: GrantID
    /// The new end. A length is counted from the grant's start.
    package let end: GiveGrant.End
    package let reason: Reason
    package let ticket: Ticket?

    package init(grant: GrantID, end: GiveGrant.End, reason: Reason, ticket: Ticket?) {
        self.grant = grant
        self.end = end
        self.reason = reason
        self.ticket = ticket
    }
}

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

    /// Gives the entitlement immediately, from the given start, or once no other source gives it.
    package func decide(
        _ wish: GiveGrant, by catalog: Catalog, now: Instant
    ) throws(Refusal) -> [Event] {
        if grants.count >= CustomerState.grantLimit {
            throw .grant(.tooMany(limit: CustomerState.grantLimit))
        }
        let given = try wish.given(now: now)
        let outlook = outlook(of: given, by: catalog)
        return [
            .grantGiven(
                GrantGiven(
                    grant: given.grant, entitlement: given.entitlement, start: given.start,
                    end: given.end, afterCurrent: given.afterCurrent, reason: given.reason,
                    ticket: given.ticket, outlook: outlook))
        ]
    }

    /// Changes the grant's end, which must be in the future. Does nothing if the grant already ends
    /// at that time.
    package func decide(
        _ wish: ChangeGrant, by catalog: Catalog, now: Instant
    ) throws(Refusal) -> [Event] {
        guard let grant = grant(wish.grant) else { throw .grant(.unknown(wish.grant)) }
        let interval = interval(of: grant, by: catalog)
        if let revoked = grant.revocation { throw .grant(.over(wish.grant, at: revoked.at)) }
        if let end = interval?.end, end <= now { throw .grant(.over(wish.grant, at: end)) }
        let changed = try wish.changed(grant, from: interval?.start, now: now)
        let isSame = changed.end == grant.end && changed.lasts == grant.length
        return isSame ? [] : [.grantChanged(changed)]
    }

    /// Revokes the grant immediately. Does nothing if it is already revoked.
    package func decide(
        _ wish: RevokeGrant, by catalog: Catalog, now: Instant
    ) throws(Refusal) -> [Event] {
        guard let grant = grant(wish.grant) else { throw .grant(.unknown(wish.grant)) }
        if grant.revocation != nil { return [] }
        if let end = interval(of: grant, by: catalog)?.end, end <= now {
            throw .grant(.ended(wish.grant, at: end))
        }
        return [
            .grantRevoked(
                GrantRevoked(
                    grant: wish.grant, entitlement: grant.given.entitlement, at: now,
                    reason: wish.reason, ticket: wish.ticket))
        ]
    }
}

extension GiveGrant {
    fileprivate func given(now: Instant) throws(Refusal) -> GrantGiven {
        var (start, end, length) = (now, Instant?.none, CalendarDuration?.none)
        switch time {
        case .from(let instant, let until):
            start = instant ?? now
            end = try until.instant(from: start)
        case .afterCurrent(let duration):
            _ = try End.after(duration).instant(from: now)
            length = duration
        }
        return GrantGiven(
            grant: grant, entitlement: entitlement, start: start, end: end, afterCurrent: length,
            reason: reason, ticket: ticket)
    }
}

extension GiveGrant.End {
    /// Returns the end as an instant, which must be after the start.
    fileprivate func instant(from start: Instant) throws(Refusal) -> Instant? {
        let end: Instant? =
            switch self {
            case .never: nil
            case .at(let end): end
            case .after(let duration): duration.end(after: start)
            }
        if let end, end <= start { throw .grant(.endsBeforeItStarts(start: start, end: end)) }
        // The log stores instants as text and could not read such an end back.
        if let end, !Instant.writable.contains(end) { throw .grant(.endsTooLate) }
        return end
    }
}

extension ChangeGrant {
    /// Returns the change. `start` is when the grant begins, as currently known.
    fileprivate func changed(
        _ grant: Grant, from start: Instant?, now: Instant
    ) throws(Refusal) -> GrantChanged {
        var (end, lasts) = (Instant?.none, CalendarDuration?.none)
        if let start {
            end = try self.end.instant(from: start)
            if let end, end <= now {
                throw .grant(.endsInThePast(end, isLength: self.end.isLength))
            }
        } else if case .at(let instant) = self.end {
            end = instant
            if instant <= now { throw .grant(.endsInThePast(instant, isLength: false)) }
        }
        if grant.waits, case .after(let duration) = self.end { (end, lasts) = (nil, duration) }
        return GrantChanged(
            grant: grant.id, entitlement: grant.given.entitlement, end: end, lasts: lasts,
            begins: grant.waits ? start : nil, reason: reason, ticket: ticket)
    }
}

extension GiveGrant.End {
    fileprivate var isLength: Bool { if case .after = self { true } else { false } }
}
