/// The use of a purchase for which a refund was requested, as far as the log shows it.
package struct Consumption: Hashable, Sendable {
    /// Whether the customer received the product; `nil` if the product does not give anything
    /// according to the catalog, because the log then cannot show its delivery.
    package let isDelivered: Bool?
    /// How much was used, in thousandths of a percent; `nil` if the log does not show the use, or
    /// if the store measures it itself.
    package let usedMilliPercent: Int64?
    package let kind: ProductKind?

    package static let unclaimed = Consumption(isDelivered: false, usedMilliPercent: nil, kind: nil)
}

extension CustomerState {
    /// Returns the use of the transaction until `now`. All coins left in a balance count as unused, because coins do
    /// not show which purchase they came from.
    package func consumption(
        of request: RefundFact, at now: Instant, by catalog: Catalog
    ) -> Consumption {
        guard let purchase = purchase(request.purchase) else { return .unclaimed }
        let kind = purchase.kind(by: catalog)
        let fact = purchase.evidence(of: request.transaction)?.effective
        let isInLog = fact?.givesAnything(by: catalog) ?? false
        if kind == .consumable { return consumption(of: request, isInLog: isInLog) }
        let given = rights(by: catalog).filter { right in
            guard case .transaction(let index, let place, _) = right.source,
                purchases[place].id == purchase.id
            else { return false }
            let isOther = purchase.evidence[index].effective.transaction != request.transaction
            return !(right.rule != .lifetime && isOther)
                && !right.unlocked(in: self, by: catalog).isEmpty
        }
        let term = given.first { $0.rule == .fixedTerm }?.interval
        return Consumption(
            isDelivered: !given.isEmpty || isInLog ? !given.isEmpty : nil,
            usedMilliPercent: term?.passedMilliPercent(at: now), kind: kind)
    }

    private func consumption(of request: RefundFact, isInLog: Bool) -> Consumption {
        let credits = balances.currencies.compactMap { currency in
            balances.credit(Credit.Key(request.purchase, request.transaction, currency))
                .map { (left: balances.total(of: currency), brought: Int128($0.net)) }
        }.filter { $0.brought > 0 }
        let used = credits.map { credit in
            let left = min(max(credit.left, 0), credit.brought)
            return Int64((credit.brought - left) * 100_000 / credit.brought)
        }
        let isDelivered =
            !credits.isEmpty || isSettledByHand(request.transaction, of: request.purchase)
        return Consumption(
            isDelivered: isDelivered || isInLog ? isDelivered : nil, usedMilliPercent: used.max(),
            kind: .consumable)
    }
}

extension TransactionFact {
    /// Returns whether the transaction's product unlocks or credits something, so that the log shows its delivery.
    fileprivate func givesAnything(by catalog: Catalog) -> Bool {
        soldProducts.contains { id in
            let product = catalog.product(ProductKey(store: store, id: id))
            return product.map { !$0.entitlements.isEmpty || !$0.credits.isEmpty } ?? false
        }
    }
}

extension Interval {
    /// Returns how much of the transaction's period has passed, in thousandths of a percent; `nil` if the period has
    /// no end.
    fileprivate func passedMilliPercent(at now: Instant) -> Int64? {
        guard let end, end > start else { return nil }
        let whole = Int128(end.milliseconds) - Int128(start.milliseconds)
        let passed = Int128(now.milliseconds) - Int128(start.milliseconds)
        return Int64(min(max(passed, 0), whole) * 100_000 / whole)
    }
}
