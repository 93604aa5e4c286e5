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
        case .grantChanged(let changed):
            guard let grant = customer.grant(changed.grant) else { return }
            // Support may neither change a grant that exceeds the limit nor make one exceed it.
            try require(grant, of: customer, now)
            try require(Grant(grant.given, changed: changed), of: customer, now)
        case .grantRevoked(let revoked):
            guard let grant = customer.grant(revoked.grant) else { return }
            try require(grant, of: customer, now)
        case .customerJoined(let joined):
            try require(joined, of: customer, event, now)
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

    /// Throws if two customers' waiting grants would together last longer than one may.
    private func require(
        _ joined: CustomerJoined, of customer: CustomerState, _ event: Event, _ now: Instant
    ) throws(Refusal) {
        let own = Set(customer.grants.filter(\.isAwaited).map(\.given.entitlement))
        var together = customer
        together.apply(event)
        for grant in joined.belongings.grants
        where grant.isAwaited && own.contains(grant.given.entitlement) {
            try require(grant, of: together, now)
        }
    }

    /// Throws unless what is left of the grant is within its entitlement's limit.
    private func require(
        _ grant: Grant, of customer: CustomerState, _ now: Instant
    ) throws(Refusal) {
        let entitlement = grant.given.entitlement
        guard let limit = settings.supportLimits[entitlement] else {
            throw .support(.beyondLimit(entitlement, nil, until: nil))
        }
        let last = limit.end(after: now)
        let bounds = customer.boundedGrant(grant.id, by: catalog)?.bounds
        let hasBegun = bounds?.start.map { $0 <= now } ?? false
        let isWithin: Bool
        if grant.waits, !hasBegun, let length = grant.length {
            // Many short grants in a row would amount to a long one.
            let others = customer.grants.filter {
                $0.id != grant.id && $0.isAwaited && $0.given.entitlement == entitlement
            }
            isWithin = customer.end(of: others, before: length, by: catalog, now) <= last
        } else if grant.waits, hasBegun, let length = grant.length, let start = bounds?.start {
            isWithin = length.end(after: start) <= last
        } else {
            isWithin = grant.end.map { $0 <= last } ?? false
        }
        if !isWithin { throw .support(.beyondLimit(entitlement, limit, until: last)) }
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

extension Grant {
    fileprivate var isAwaited: Bool { waits && revocation == nil }
}

extension CustomerState {
    /// When everything would end if the waiting grants ran one after the other from now, followed
    /// by `length`.
    fileprivate func end(
        of waiting: [Grant], before length: CalendarDuration, by catalog: Catalog, _ now: Instant
    ) -> Instant {
        var end = now
        for grant in waiting {
            guard let bounds = boundedGrant(grant.id, by: catalog)?.bounds else { continue }
            if let last = bounds.end, last <= now { continue }
            if let start = bounds.start, start <= now {
                // It has started, so what is left of it counts.
                end = end.advanced(
                    byMilliseconds: (bounds.end ?? .distantFuture).milliseconds &- now.milliseconds)
            } else if let own = grant.length {
                end = own.end(after: end)
            }
        }
        return length.end(after: end)
    }
}

extension SettingsChange {
    /// The entitlements that get a limit.
    var limitedEntitlements: [EntitlementID] {
        supportLimits.filter { $0.value != nil }.keys.sorted()
    }
}
