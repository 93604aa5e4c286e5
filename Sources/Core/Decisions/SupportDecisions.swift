extension Command {
    /// The same command, refused if it exceeds what support staff may grant.
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
                    try situation.project.requireWithinSupport(
                        event, of: customer, now: situation.now)
                }
            }
            return decision
        }
        return command
    }
}

extension ProjectState {
    fileprivate func requireWithinSupport(
        _ event: Event, of customer: CustomerState, now: Instant
    ) throws(Refusal) {
        switch event {
        case .grantGiven(let given):
            try require(Grant(given), of: customer, now)
            try requireTogether(given.entitlement, of: customer.after(event), now)
        case .grantChanged(let changed):
            guard let grant = customer.grant(changed.grant) else { return }
            // Support may neither change a grant that exceeds the limit nor make one exceed it.
            try require(grant, of: customer, now)
            try require(Grant(grant.given, changed: changed), of: customer, now)
            try requireTogether(grant.given.entitlement, of: customer.after(event), now)
        case .grantRevoked(let revoked):
            guard let grant = customer.grant(revoked.grant) else { return }
            try require(grant, of: customer, now)
        case .customerJoined(let joined):
            let both = customer.after(event)
            let own = Set(customer.grants.map(\.given.entitlement))
            let came = Set(joined.belongings.grants.map(\.given.entitlement))
            for entitlement in own.intersection(came).sorted() {
                try requireTogether(entitlement, of: both, now)
            }
        case .purchaseMade, .subscriptionRenewed, .subscriptionUpgraded, .subscriptionExtended,
            .purchaseRefunded, .purchaseRevoked, .refundReversed, .purchaseRestated,
            .renewalChanged, .renewalRestated, .appInstalled, .refundRequested, .refundDeclined,
            .consentRescinded, .accountJoined, .refundReportPrepared, .refundReported,
            .refundUnreported, .purchaseAttached, .purchaseDetached, .purchaseBlocked,
            .purchaseUnblocked, .noteAdded, .noteRemoved, .balanceCredited, .balanceDebited,
            .balanceSpent,
            .balanceAdjusted, .orderOpened, .orderFulfilled, .orderClosed, .tokenRegistered,
            .accessStarted, .accessEnded, .accessEndingSoon, .customerMerged, .customerParted,
            .customerUnmerged, .customerErased, .erased,
            .projectCreated, .keyCreated, .keyRevoked, .keyRotated, .catalogChanged, .appSet,
            .appRemoved, .appAllowed, .appDisallowed, .projectChanged, .reconciliationStarted,
            .reconciliationFinished, .logAccepted, .webhookSet, .webhookRemoved:
            // Nothing is granted by it.
            break
        }
    }

    /// Throws unless what is left of the grant by itself is within its entitlement's limit.
    private func require(
        _ grant: Grant, of customer: CustomerState, _ now: Instant
    ) throws(Refusal) {
        let entitlement = grant.given.entitlement
        guard let limit = settings.supportLimits[entitlement] else {
            throw .support(.beyondLimit(entitlement, nil, until: nil))
        }
        let last = limit.end(after: now)
        let start = customer.boundedGrant(grant.id, by: catalog)?.bounds.start
        let isWithin: Bool
        if grant.waits, let length = grant.length {
            let begun = start.flatMap { $0 <= now ? $0 : nil }
            isWithin = length.end(after: begun ?? now) <= last
        } else {
            isWithin = grant.end.map { $0 <= last } ?? false
        }
        if !isWithin { throw .support(.beyondLimit(entitlement, limit, until: last)) }
    }

    /// Throws if waiting grants, one after the other behind the running ones, would go beyond
    /// the limit: many short grants in a row amount to a long one. What goes further by itself is an
    /// admin's and does not count.
    private func requireTogether(
        _ entitlement: EntitlementID, of customer: CustomerState, _ now: Instant
    ) throws(Refusal) {
        guard let limit = settings.supportLimits[entitlement] else { return }
        let last = limit.end(after: now)
        let all = customer.waiting(for: entitlement, by: catalog, now)
        let waiting = all.lengths.filter { $0.end(after: now) <= last }
        if waiting.isEmpty { return }
        let begun = all.ends.filter { $0 <= last }.max() ?? now
        let end = waiting.reduce(max(begun, now)) { $1.end(after: $0) }
        if end > last { throw .support(.beyondLimit(entitlement, limit, until: last)) }
    }

    /// Throws unless the catalog knows every entitlement that gets a support limit, or it already
    /// has one.
    func requireEntitlements(of change: SettingsChange) throws(Refusal) {
        for entitlement in change.limitedEntitlements {
            if settings.supportLimits.durations[entitlement] != nil || entitlement.isOthers {
                continue
            }
            try require(.entitlement(entitlement))
        }
    }
}

extension CustomerState {
    fileprivate func after(_ event: Event) -> CustomerState {
        var state = self
        state.apply(event)
        return state
    }

    /// How long each of the entitlement's grants lasts that still waits, and when its other grants
    /// end.
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

extension SettingsChange {
    /// The entitlements that get a limit.
    var limitedEntitlements: [EntitlementID] {
        supportLimits.filter { $0.value != nil }.keys.sorted()
    }
}
