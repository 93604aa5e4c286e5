extension CustomerState {
    /// Returns the event for the change that a reading makes, if any. A reading that repeats the previous one does
    /// not change anything.
    func event(forReading fact: TransactionFact) -> Event? {
        var (after, before) = (purchases, purchases.filter { $0.isSame(as: fact) })
        after.join(reading: fact)
        if after == purchases { return nil }
        guard let joined = after.first(where: { $0.isSame(as: fact) }) else { return nil }
        if before.count > 1 { return .purchaseRestated(fact) }
        return joined.event(of: fact, after: before.popLast())
    }
}

extension Purchase {
    /// Returns the event that describes the change as a person would.
    fileprivate func event(of fact: TransactionFact, after former: Purchase?) -> Event {
        let known = former?.periods ?? []
        if known.isEmpty { return periods.isEmpty ? .purchaseRestated(fact) : .purchaseMade(fact) }
        let names = Dictionary(known.map { ($0.fact.transaction, $0) }) { first, _ in first }
        var (isUpgraded, isRefunded, isReversed, isExtended) = (false, false, false, false)
        var isNew = false
        for period in periods {
            guard let old = names[period.fact.transaction] else {
                isNew = true
                continue
            }
            let isReplaced = period.replacedAt != nil && old.replacedAt == nil
            isUpgraded = isUpgraded || isReplaced && !fact.gives(period.fact.product)
            isRefunded = isRefunded || period.isRefunded(since: old)
            isReversed = isReversed || old.isRefunded(since: period)
            isExtended = isExtended || period.runsLonger(than: old)
        }
        if isUpgraded { return .subscriptionUpgraded(fact) }
        if isRefunded { return .purchaseRefunded(fact) }
        if isNew {
            return fact.kind == .autoRenewable ? .subscriptionRenewed(fact) : .purchaseMade(fact)
        }
        if isReversed { return .refundReversed(fact) }
        return isExtended ? .subscriptionExtended(fact) : .purchaseRestated(fact)
    }
}

extension TransactionFact {
    /// Returns whether the product continues under the reading's token, for example after a top-up or with an add-on.
    fileprivate func gives(_ product: ProductID) -> Bool {
        reading?.items.contains { $0.isOwned && $0.product == product } ?? false
    }
}

extension ReadPeriod {
    fileprivate func isRefunded(since old: ReadPeriod) -> Bool {
        if fact.revocation != nil, old.fact.revocation == nil { return true }
        return fact.refundedQuantity ?? 0 > old.fact.refundedQuantity ?? 0
    }

    fileprivate func runsLonger(than old: ReadPeriod) -> Bool {
        guard let end = fact.expires, let oldEnd = old.fact.expires else { return false }
        return end > oldEnd
    }
}
