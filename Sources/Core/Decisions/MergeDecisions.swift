/// A request to merge a customer into another one, with everything that the customer has in both
/// environments.
package struct MergeCustomer: Sendable {
    package let from: CustomerID
    package let into: CustomerID
    package let reason: Reason
    package let ticket: Ticket?
    /// Whether the request came from a back end, which needs the project's permission.
    package let isOfBackEnd: Bool

    package init(
        _ from: CustomerID, into: CustomerID, reason: Reason, ticket: Ticket?,
        isOfBackEnd: Bool = false
    ) {
        self.from = from
        self.into = into
        self.reason = reason
        self.ticket = ticket
        self.isOfBackEnd = isOfBackEnd
    }

    /// Returns the events for all streams, which are written in one commit.
    package func decide(_ situation: borrowing Situation) throws(Refusal) -> Decision {
        if from == into { throw .merge(.intoItself(from)) }
        let both = Situation.sides.map { side in
            Pair(situation.customer(from, side), situation.customer(into, side), side)
        }
        try requireMergeable(both)
        if isOfBackEnd { try requirePermission(both, situation) }
        var decision = Decision(parts: [])
        for pair in both {
            try pair.requireRoom(now: situation.now)
            decision.parts += parts(of: pair, situation)
        }
        let count = decision.parts.reduce(0) { $0 + $1.events.count }
        if count > Submission.eventLimit {
            throw .merge(.tooLarge(limit: Submission.eventLimit))
        }
        return decision
    }

    private func requireMergeable(_ both: [Pair]) throws(Refusal) {
        if both.allSatisfy({ $0.giver.version == 0 }) { throw .customerUnknown(from) }
        for pair in both {
            if let whole = pair.giver.mergedInto { throw .customerMerged(from, into: whole) }
        }
        for pair in both {
            guard let whole = pair.taker.mergedInto else { continue }
            if whole == from { throw .merge(.circle(from, into)) }
            throw .merge(.intoMerged(into, partOf: whole))
        }
        if both.map(\.giver).areErased { throw .merge(.ofErased(from)) }
        if both.map(\.taker).areErased { throw .merge(.intoErased(into)) }
    }

    /// Throws unless back ends may merge customers, and all purchases that move belong to these two customers.
    private func requirePermission(
        _ both: [Pair], _ situation: borrowing Situation
    ) throws(Refusal) {
        if situation.project.settings.merge != .backend { throw .merge(.notAllowed) }
        for pair in both {
            let owners = situation.tokenOwners(pair.side)
            let own = Set([from, into] + (pair.giver.joined + pair.taker.joined).flatMap(\.all))
            for purchase in pair.giver.purchases {
                let origin = purchase.arrival?.from
                let isOfAnother =
                    origin.map { !$0.isReserved && !own.contains($0) } ?? false
                    || purchase.tokens.contains {
                        owners[$0.text].map { !own.contains($0) } ?? false
                    }
                if isOfAnother { throw .merge(.purchaseOfAnother(purchase.id)) }
            }
        }
    }

    private func parts(of pair: Pair, _ situation: borrowing Situation) -> [Decision.Part] {
        let (giver, now, side) = (pair.giver, situation.now, pair.side)
        let act = MergeAct(reason: reason, ticket: ticket, at: now)
        let belongings = giver.belongings
        var leaving: [Event] = [
            .customerMerged(CustomerMerged(into: into, act, left: belongings.names))
        ]
        var arriving = History(of: pair.taker)
        arriving.append(
            .customerJoined(
                CustomerJoined(
                    from: from, others: giver.joined.flatMap(\.all), act, belongings: belongings)))
        for purchase in giver.purchases {
            let carried = purchase.carried(from: from, to: into, .merged, at: now)
            leaving.append(carried.leaving)
            arriving.append(carried.arriving)
        }
        arriving.settle(giver.purchases, by: situation.project.catalog)
        var parts = [
            Decision.Part(customer: from, events: leaving.counted, isElsewhere: side.isElsewhere),
            Decision.Part(
                customer: into, events: arriving.events.counted, isElsewhere: side.isElsewhere),
        ]
        // Customers who were earlier merged into this one now belong to the final customer.
        for other in giver.joined.flatMap(\.all)
        where situation.customer(other, side).mergedInto == from {
            let merged = CustomerMerged(into: into, through: from, act)
            parts.append(
                Decision.Part(
                    customer: other, events: [.customerMerged(merged)],
                    isElsewhere: side.isElsewhere))
        }
        return parts
    }
}

/// The states of both customers in one environment.
private struct Pair {
    let giver: CustomerState
    let taker: CustomerState
    let side: Situation.Side

    init(_ giver: CustomerState, _ taker: CustomerState, _ side: Situation.Side) {
        self.giver = giver
        self.taker = taker
        self.side = side
    }

    /// Throws if the merged customer would exceed a limit.
    func requireRoom(now: Instant) throws(Refusal) {
        func require(
            _ what: MergeRefusal.Limit, _ limit: Int, _ count: (CustomerState) -> Int
        ) throws(Refusal) {
            if count(giver) > 0, count(giver) + count(taker) > limit {
                throw .merge(.beyondLimit(what, limit))
            }
        }
        try require(.grants, CustomerState.grantLimit) { $0.grants.count }
        if giver.belongings.weight > Belongings.limit { throw .merge(.tooMuch) }
        try require(.tokens, CustomerState.tokenLimit) { $0.tokens.count }
        try require(.openOrders, CustomerState.openOrderLimit) { state in
            state.orders.count { $0.state(at: now) == .open }
        }
        let count = giver.joined.flatMap(\.all).count + taker.joined.flatMap(\.all).count + 1
        if count > MergeRefusal.customerLimit {
            throw .merge(.beyondLimit(.merged, MergeRefusal.customerLimit))
        }
        for currency in giver.balances.currencies {
            let sum = giver.balances.total(of: currency) + taker.balances.total(of: currency)
            if sum.magnitude > Balances.limit.magnitude {
                throw .merge(.balanceBeyondLimit(currency, Balances.limit))
            }
        }
    }
}

extension Situation {
    /// The command's own environment, or the other environment.
    package enum Side: Sendable {
        case own, other

        var isElsewhere: Bool { self == .other }
    }
    static let sides: [Side] = [.own, .other]

    func customer(_ id: CustomerID, _ side: Side) -> CustomerState {
        side == .own ? customer(id) : customerElsewhere(id)
    }

    func tokenOwners(_ side: Side) -> [String: CustomerID] {
        side == .own ? tokenOwners : tokenOwnersElsewhere
    }

    /// Throws if the customer was merged into another one.
    func requireUnmerged(_ id: CustomerID) throws(Refusal) {
        if let whole = customer(id).mergedInto { throw .customerMerged(id, into: whole) }
    }

    /// Throws if the decision concerns a customer who was merged into another one.
    func requireUnmerged(_ decision: Decision) throws(Refusal) {
        for part in decision.parts where !part.events.isEmpty && !part.isElsewhere {
            try requireUnmerged(part.customer)
        }
    }
}

extension History {
    /// Adds the credits that the previous holder did not get, for example because the catalog lacked the product.
    mutating func settle(_ purchases: [Purchase], by catalog: Catalog) {
        for purchase in purchases {
            // Both customers may have had the purchase, and a block on either side applies to all
            // of it.
            let whole = state.purchase(purchase.id) ?? purchase
            for fact in whole.facts.transactions { settle(fact, by: catalog, named: nil) }
        }
    }
}

extension [CustomerState] {
    /// Whether the customer was erased and no event has been recorded since.
    fileprivate var areErased: Bool {
        contains { $0.version > 0 } && allSatisfy { $0.version == 0 || $0.isErased }
    }
}

extension Purchase {
    /// Returns the events that move the purchase to another customer id of the same person.
    func carried(
        from holder: CustomerID, to other: CustomerID, _ cause: MoveCause, at now: Instant
    ) -> (leaving: Event, arriving: Event) {
        (
            .purchaseDetached(PurchaseDetached(purchase: id, to: other, cause: cause, at: now)),
            .purchaseAttached(
                PurchaseAttached(
                    purchase: id, from: holder, cause: cause, at: now, facts: facts,
                    reports: reports, earlierTokens: earlierTokens, blocks: blocks,
                    arrived: arrival))
        )
    }
}
