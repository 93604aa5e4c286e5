/// Criteria for finding a project's grants. `nil` matches anything.
package struct GrantFilter: Hashable, Sendable {
    package var ticket: Ticket?
    /// The actor who gave the grant.
    package var actor: Actor?
    package var entitlement: EntitlementID?
    /// A text that the reason must contain, ignoring case.
    package var reason: String?
    /// The grant must have been given at `from` or later, and before `to`.
    package var from: Instant?
    package var to: Instant?
    /// An instant at which the grant must give access.
    package var activeAt: Instant?

    package init() {}

    /// Whether nearly every row found through the index matches.
    package var leavesOutLittle: Bool {
        actor == nil && entitlement == nil && reason == nil && activeAt == nil
    }
}

/// A position in the list of grants, newest first.
package struct GrantPlace: Hashable, Sendable {
    package let givenAt: Instant
    package let grant: GrantID

    package init(givenAt: Instant, grant: GrantID) {
        self.givenAt = givenAt
        self.grant = grant
    }
}

/// A grant's location according to a table row. The customer's events decide who holds the grant
/// and what it gives.
package struct GrantLead: Hashable, Sendable {
    package let customer: CustomerID
    package let place: GrantPlace

    package init(customer: CustomerID, place: GrantPlace) {
        self.customer = customer
        self.place = place
    }
}

/// The locations of grants, and the position that the search reached.
package struct GrantLeads: Hashable, Sendable {
    package let leads: [GrantLead]
    /// The last position that was examined; `nil` if no further grants can follow.
    package let lookedUntil: GrantPlace?

    package init(leads: [GrantLead], lookedUntil: GrantPlace?) {
        self.leads = leads
        self.lookedUntil = lookedUntil
    }
}

extension Grant {
    /// Returns whether the grant gives access at that instant, given these bounds.
    package func isActive(at instant: Instant, within bounds: GrantBounds) -> Bool {
        guard let start = bounds.start else { return false }
        let interval = Interval(start: start, end: bounds.end.map { max(start, $0) })
        return (revocation.map { interval.cut(at: $0.at) } ?? interval).contains(instant)
    }
}
