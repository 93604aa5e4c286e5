package struct UndoMerge: Sendable {
    package let from: CustomerID
    /// The customer into whom this one was merged, as looked up before the decision.
    package let into: CustomerID?
    package let reason: Reason
    package let ticket: Ticket?

    package init(
        _ from: CustomerID, partOf into: CustomerID?, reason: Reason, ticket: Ticket?
    ) {
        self.from = from
        self.into = into
        self.reason = reason
        self.ticket = ticket
    }

    /// Returns the events for all streams, which are written in one commit.
    package func decide(_ situation: borrowing Situation) throws(Refusal) -> Decision {
        let states = Situation.sides.map { situation.customer(from, $0) }
        if states.allSatisfy({ $0.version == 0 }) { throw .customerUnknown(from) }
        guard let whole = states.compactMap(\.mergedInto).first else {
            throw .merge(.notMerged(from))
        }
        guard let into, into == whole else {
            // Since the lookup, the customer was merged again, or the merge was undone and repeated.
            throw .mergedMeanwhile(from)
        }
        var decision = Decision(parts: [])
        for side in Situation.sides where situation.customer(from, side).mergedInto == into {
            decision.parts += try parts(from: into, on: side, situation)
        }
        let count = decision.parts.reduce(0) { $0 + $1.events.count }
        if count > Submission.eventLimit {
            throw .merge(.tooLarge(limit: Submission.eventLimit))
        }
        return decision
    }

    private func parts(
        from whole: CustomerID, on side: Situation.Side, _ situation: borrowing Situation
    ) throws(Refusal) -> [Decision.Part] {
        let (giver, now) = (situation.customer(whole, side), situation.now)
        guard let place = giver.joined.lastIndex(where: { $0.customer == from }) else {
            let first = giver.joined.last { $0.others.contains(from) }
            throw .merge(.undoneLater(from, first: first?.customer ?? whole))
        }
        let joined = giver.joined[place]
        try giver.requireCoins(at: place)
        let act = MergeAct(reason: reason, ticket: ticket, at: now)
        var belongings = giver.belongings(of: joined)
        let named = named(of: giver, returning: belongings.allTokens, on: side, situation)
        let back = giver.purchases.filter { purchase in
            joined.purchases.contains(purchase.id) && named[purchase.id]?.customer != whole
        }
        let kept = giver.purchases.filter { !joined.purchases.contains($0.id) }
        belongings.consents = giver.consents(of: joined, with: back)
        if belongings.weight > Belongings.limit { throw .merge(.tooMuch) }
        var left = belongings.names
        let others = giver.accounts(without: joined, and: back)
        left.consents = belongings.consents.filter { !others.contains($0.appTransaction) }.map(\.id)
        var leaving = History(of: giver)
        var arriving = History(of: situation.customer(from, side))
        leaving.append(.customerParted(CustomerParted(to: from, act, left: left)))
        arriving.append(
            .customerUnmerged(CustomerUnmerged(from: whole, act, belongings: belongings)))
        for purchase in back {
            let carried = purchase.carried(from: whole, to: from, .unmerged, at: now)
            leaving.append(carried.leaving)
            arriving.append(carried.arriving)
        }
        arriving.settle(back, by: situation.project.catalog)
        // Purchases that have since arrived under a returning token go back with it, as if the
        // token were registered now.
        let returned = Set(belongings.allTokens)
        for purchase in kept where purchase.tokens.contains(where: returned.contains) {
            guard let holder = named[purchase.id], holder.customer == from else { continue }
            let move = MovePurchase(
                purchase.id, from: whole, to: from, cause: .named(holder.token),
                catalog: situation.project.catalog)
            try move.append(to: &leaving, &arriving, now: now)
        }
        var parts = [
            Decision.Part(
                customer: whole, events: leaving.events.counted, isElsewhere: side.isElsewhere),
            Decision.Part(
                customer: from, events: arriving.events.counted, isElsewhere: side.isElsewhere),
        ]
        for other in joined.others where situation.customer(other, side).mergedInto == whole {
            let merged = CustomerMerged(into: from, through: from, act)
            parts.append(
                Decision.Part(
                    customer: other, events: [.customerMerged(merged)],
                    isElsewhere: side.isElsewhere))
        }
        return parts
    }

    /// Returns the customer named by each purchase's tokens after these tokens have been returned. Covers purchases
    /// that tokens may move.
    private func named(
        of giver: CustomerState, returning tokens: [AccountToken], on side: Situation.Side,
        _ situation: borrowing Situation
    ) -> [PurchaseID: NamedHolder] {
        var owners = situation.tokenOwners(side)
        for token in tokens { owners[token.text] = from }
        let rule = situation.project.settings.transferPolicy.rule
        var named: [PurchaseID: NamedHolder] = [:]
        for purchase in giver.purchasesMovedByTokens {
            named[purchase.id] = purchase.holder(named: owners, by: rule)
        }
        return named
    }
}

extension CustomerState {
    /// Returns what came with that customer and still belongs to this one.
    fileprivate func belongings(of one: JoinedCustomer) -> Belongings {
        var back = Belongings()
        back.grants = grants.filter { one.grants.contains($0.id) }
        back.orders = orders.filter { one.orders.contains($0.id) }
        back.tokens = tokens.filter { one.tokens.contains($0) }
        back.coins.credits = balances.credits.filter { one.purchases.contains($0.key.purchase) }
        for (currency, amount) in one.amounts(among: balances.credits) {
            back.coins.amounts[currency] = Int64(clamping: amount)
        }
        return back
    }

    /// Throws if coins that came with the customer at `place` have been used.
    fileprivate func requireCoins(at place: Int) throws(Refusal) {
        let amounts = joined[place].amounts(among: balances.credits)
        let losses = amounts.sorted { $0.key < $1.key }.compactMap { currency, amount in
            let lack = joined.lack(of: currency, at: place)
            return lack == 0
                ? nil
                : MergeRefusal.Loss(
                    currency: currency, has: balances[currency], needs: Int64(clamping: amount),
                    missing: Int64(clamping: lack))
        }
        if !losses.isEmpty { throw .merge(.spent(losses)) }
    }

    /// Returns the consents that were withdrawn after that customer was merged into this one and that concern the
    /// customer's accounts or these purchases.
    fileprivate func consents(
        of one: JoinedCustomer, with purchases: [Purchase]
    ) -> [ConsentFact] {
        let accounts = Set(one.accounts + purchases.compactMap(\.account))
        return consents.filter {
            accounts.contains($0.appTransaction) && !one.consents.contains($0)
        }
    }
}
