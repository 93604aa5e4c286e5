/// A request to record the facts in verified evidence, either about this customer's purchases or
/// about an unclaimed purchase.
package struct RecordFacts: Sendable {
    package let facts: Facts
    package let catalog: Catalog
    /// Whether the stream only keeps the purchase until a customer claims it. Until then, the
    /// purchase gives no credits.
    package let isUnclaimed: Bool
    /// The order that a transaction fulfils even though the transaction does not name it.
    let named: NamedOrder?

    package init(
        _ facts: Facts, catalog: Catalog, isUnclaimed: Bool = false, named: NamedOrder? = nil
    ) {
        self.facts = facts
        self.catalog = catalog
        self.isUnclaimed = isUnclaimed
        self.named = named
    }
}

extension CustomerState {
    /// Records new facts. A fact that changes nothing produces no event.
    package func decide(_ wish: RecordFacts) -> [Event] {
        var history = History(of: self)
        history.record(wish)
        return history.events
    }
}

/// New events and the state that results. Each event is based on the state after the previous one.
struct History {
    private(set) var state: CustomerState
    private(set) var events: [Event] = []

    init(of state: consuming CustomerState) {
        self.state = state
    }

    mutating func append(_ event: Event?) {
        guard let event else { return }
        state.apply(event)
        events.append(event)
    }

    mutating func record(_ wish: RecordFacts) {
        for fact in wish.facts.transactions { append(state.event(for: fact)) }
        for fact in wish.facts.renewals { append(state.event(for: fact)) }
        for fact in wish.facts.apps { append(state.event(for: fact)) }
        for fact in wish.facts.refunds { append(state.event(for: fact)) }
        for fact in wish.facts.consents where !state.consents.holds(fact) {
            append(.consentRescinded(fact))
        }
        if wish.isUnclaimed { return }
        for fact in wish.facts.transactions { settle(fact, by: wish.catalog, named: wish.named) }
    }

    /// Fulfils the transaction's order and updates the balances.
    mutating func settle(_ fact: TransactionFact, by catalog: Catalog, named: NamedOrder?) {
        append(state.fulfilment(by: fact))
        append(named.flatMap { state.fulfilment(of: $0, by: fact) })
        for fact in state.purchase(fact.purchase)?.stated(by: fact) ?? [] {
            for event in state.settlement(of: fact, by: catalog) { append(event) }
        }
    }
}

extension CustomerState {
    /// Returns the event for the change that the fact makes, if any.
    fileprivate func event(for fact: TransactionFact) -> Event? {
        if fact.reading != nil { return event(forReading: fact) }
        guard let purchase = purchase(fact.purchase),
            let known = purchase.evidence(of: fact.transaction)
        else { return newTransaction(fact) }
        var joined = known
        joined.join(fact)
        // Even a statement that a newer one outweighs may carry a token, and tokens always count.
        let tellsToken = CarriedToken(fact).map { !purchase.carried.holds($0) } ?? false
        if joined == known, !tellsToken { return nil }
        return Event.restating(
            fact, from: known.effective, to: joined.effective,
            wasReplaced: purchase.isReplaced(fact.transaction))
    }

    private func newTransaction(_ fact: TransactionFact) -> Event {
        guard let purchase = purchase(fact.purchase), !purchase.evidence.isEmpty,
            fact.expires != nil
        else { return .purchaseMade(fact) }
        return purchase.isUpgrade(fact) ? .subscriptionUpgraded(fact) : .subscriptionRenewed(fact)
    }

    fileprivate func event(for fact: RenewalFact) -> Event? {
        guard let purchase = purchase(fact.purchase) else { return .renewalChanged(fact) }
        var joined = purchase
        joined.join(fact)
        if joined == purchase { return nil }
        return fact.restates(purchase.renewal) ? .renewalRestated(fact) : .renewalChanged(fact)
    }

    fileprivate func event(for fact: AppFact) -> Event? {
        if AppVersion(fact.originalVersion) == nil { return nil }
        let known = apps.first { $0.store == fact.store && $0.app == fact.app }
        let isNewAccount = fact.appTransaction.map { !installedBy.contains($0) } ?? false
        return isNewAccount || known.map(fact.outweighs) ?? true ? .appInstalled(fact) : nil
    }

    fileprivate func event(for fact: RefundFact) -> Event? {
        if purchase(fact.purchase)?.refundNews.holds(fact) ?? false { return nil }
        return fact.isRequest ? .refundRequested(fact) : .refundDeclined(fact)
    }
}

extension Event {
    /// Returns the event that describes the change as a person would. An upgrade has already been reported if the
    /// period that replaced this one is known.
    fileprivate static func restating(
        _ fact: TransactionFact, from old: TransactionFact, to new: TransactionFact,
        wasReplaced: Bool
    ) -> Event {
        if let revocation = new.revocation, revocation != old.revocation {
            return revocation.extent == .family ? .purchaseRevoked(fact) : .purchaseRefunded(fact)
        }
        if old.revocation != nil, new.revocation == nil { return .refundReversed(fact) }
        let (taken, takenBefore) = (new.itemsTakenBack, old.itemsTakenBack)
        if taken != takenBefore {
            return taken > takenBefore ? .purchaseRefunded(fact) : .refundReversed(fact)
        }
        if new.isUpgraded, !old.isUpgraded, !wasReplaced { return .subscriptionUpgraded(fact) }
        if let end = new.expires, let oldEnd = old.expires, end > oldEnd {
            return .subscriptionExtended(fact)
        }
        return .purchaseRestated(fact)
    }
}

extension RenewalFact {
    /// Returns whether the fact merely repeats the other statement.
    fileprivate func restates(_ other: RenewalFact?) -> Bool {
        guard var other else { return false }
        other.signedAt = signedAt
        other.rank = rank
        return self == other
    }
}
