extension Command {
    /// The same command, but refused if it exceeds the limits on grants by support staff.
    package var withinSupportLimits: Command {
        var command = self
        command.decide = { [decide] situation throws(Refusal) in
            let decision = try decide(situation)
            for part in decision.parts {
                let customer =
                    part.isElsewhere
                    ? situation.customerElsewhere(part.customer)
                    : situation.customer(part.customer)
                for event in part.events {
                    try event.content.require(
                        within: SupportBounds(situation.project, customer, situation.now))
                }
            }
            return decision
        }
        return command
    }
}

extension CustomerJoined {
    package func require(within bounds: SupportBounds) throws(Refusal) {
        let own = Set(bounds.customer.grants.map(\.given.entitlement))
        let came = Set(belongings.grants.map(\.given.entitlement))
        for entitlement in own.intersection(came).sorted() {
            try bounds.requireTogether(entitlement, after: .customerJoined(self))
        }
    }
}

/// The limits on what support staff may currently give to a customer.
package struct SupportBounds {
    private let project: ProjectState
    let customer: CustomerState
    private let now: Instant

    fileprivate init(_ project: ProjectState, _ customer: CustomerState, _ now: Instant) {
        self.project = project
        self.customer = customer
        self.now = now
    }

    /// Throws unless the rest of the grant, taken by itself, is within the limit for its entitlement.
    func require(_ grant: Grant) throws(Refusal) {
        let entitlement = grant.given.entitlement
        guard let limit = project.settings.supportLimits[entitlement] else {
            throw .support(.beyondLimit(entitlement, nil, until: nil))
        }
        let last = limit.end(after: now)
        let start = customer.boundedGrant(grant.id, by: project.catalog)?.bounds.start
        let isWithin: Bool
        if grant.waits, let length = grant.length {
            let begun = start.flatMap { $0 <= now ? $0 : nil }
            isWithin = length.end(after: begun ?? now) <= last
        } else {
            isWithin = grant.end.map { $0 <= last } ?? false
        }
        if !isWithin { throw .support(.beyondLimit(entitlement, limit, until: last)) }
    }

    /// Throws if waiting grants together with the running ones exceed the limit, because many short grants in a
    /// row amount to a long one. A grant that alone exceeds the limit came from an admin and does not count.
    func requireTogether(
        _ entitlement: EntitlementID, after event: Event
    ) throws(Refusal) {
        guard let limit = project.settings.supportLimits[entitlement] else { return }
        let last = limit.end(after: now)
        var changed = customer
        changed.apply(event)
        let all = changed.waiting(for: entitlement, by: project.catalog, now)
        let waiting = all.lengths.filter { $0.end(after: now) <= last }
        if waiting.isEmpty { return }
        let begun = all.ends.filter { $0 <= last }.max() ?? now
        let end = waiting.reduce(max(begun, now)) { $1.end(after: $0) }
        if end > last { throw .support(.beyondLimit(entitlement, limit, until: last)) }
    }
}

extension CustomerState {
    /// Returns how long each of the entitlement's waiting grants lasts, and when its other grants end.
    fileprivate func waiting(
        for entitlement: EntitlementID, by catalog: Catalog, _ now: Instant
    ) -> (lengths: [CalendarDuration], ends: [Instant]) {
        var (lengths, ends): ([CalendarDuration], [Instant]) = ([], [])
        for (grant, bounds) in zip(grants, grantBounds(by: catalog))
        where grant.given.entitlement == entitlement && grant.revocation == nil {
            let hasBegun = bounds.start.map { $0 <= now } ?? false
            if grant.waits, !hasBegun, let length = grant.length {
                lengths.append(length)
            } else if let end = bounds.end {
                ends.append(end)
            }
        }
        return (lengths, ends)
    }
}
