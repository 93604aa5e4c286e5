/// Which grants of a project are looked for; what is `nil` asks for nothing.
package struct GrantFilter: Hashable, Sendable {
    package var ticket: Ticket?
    /// Who gave it.
    package var actor: Actor?
    package var entitlement: EntitlementID?
    /// What the reason holds, in capitals or not.
    package var reason: String?
    /// When it was given: from that instant on, and before that one.
    package var from: Instant?
    package var to: Instant?
    /// When it gives access.
    package var activeAt: Instant?

    package init() {}

    /// Whether the index alone leads to all that fits.
    package var leavesOutLittle: Bool {
        actor == nil && entitlement == nil && reason == nil && activeAt == nil
    }
}

/// A place in the list of grants, the newest first.
package struct GrantPlace: Hashable, Sendable {
    package let givenAt: Instant
    package let grant: GrantID

    package init(givenAt: Instant, grant: GrantID) {
        self.givenAt = givenAt
        self.grant = grant
    }
}

/// Where a row says that a grant is; whose it is, and what it is, the customer's events tell.
package struct GrantLead: Hashable, Sendable {
    package let customer: CustomerID
    package let place: GrantPlace

    package init(customer: CustomerID, place: GrantPlace) {
        self.customer = customer
        self.place = place
    }
}

/// Some of those places, and how far was looked.
package struct GrantLeads: Hashable, Sendable {
    package let leads: [GrantLead]
    /// The last place that was looked at, if there may be more behind it.
    package let lookedUntil: GrantPlace?

    package init(leads: [GrantLead], lookedUntil: GrantPlace?) {
        self.leads = leads
        self.lookedUntil = lookedUntil
    }
}

extension Grant {
    /// Whether it gives access at that instant, with those bounds.
    package func isActive(at instant: Instant, within bounds: GrantBounds) -> Bool {
        guard let start = bounds.start else { return false }
        let interval = Interval(start: start, end: bounds.end.map { max(start, $0) })
        return (revocation.map { interval.cut(at: $0.at) } ?? interval).contains(instant)
    }
}
