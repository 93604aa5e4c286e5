/// Purchases from a store that states their current state. Readings show each period and what ended
/// it, separately for each product, because one product may end while others continue.
extension Purchase {
    func addRead(
        at place: Int, _ known: [Int?], by catalog: Catalog, to rights: inout [Right],
        terms: inout [Int: [FixedTerms.Term]]
    ) {
        for index in transactions.indices {
            let transaction = transactions[index]
            let product = known[transaction.product]
            let source = Right.Source.transaction(index, purchase: place, product: product)
            switch kind(of: index, by: catalog) {
            case .autoRenewable: rights += periods[index].rights(of: source)
            case .nonConsumable:
                rights.append(transaction.lifetime(since: transaction.start, of: source))
            case .nonRenewing:
                guard let product else { continue }
                terms[product, default: []].append(
                    FixedTerms.Term(
                        source: source, bought: transaction.start,
                        revokedAt: transaction.revokedAt))
            case .consumable, nil: break
            }
        }
    }

    /// Returns the kind of one transaction. Products of different kinds may have been bought together.
    func kind(of index: Int, by catalog: Catalog) -> ProductKind? {
        if !isRead { return kind(by: catalog) }
        let transaction = transactions[index]
        let product = ProductKey(store: id.store, id: products[transaction.product])
        return transaction.kind ?? catalog.product(product)?.kind
    }
}

extension ReadPeriod {
    /// Returns the access that the period gives, and the access after it while a payment is failing.
    fileprivate func rights(of source: Right.Source) -> [Right] {
        let (start, end) = (fact.purchased, fact.expires ?? fact.purchased)
        var rights = [Right(.period, of: source, Interval(start: start, end: end))]
        if let graceUntil, end < graceUntil {
            rights.append(Right(.grace, of: source, Interval(start: end, end: graceUntil)))
        }
        for index in rights.indices {
            if let replacedAt { rights[index].cut(at: replacedAt, by: .upgrade) }
            if let revoked = fact.revocation?.at { rights[index].cut(at: revoked, by: .revocation) }
        }
        return rights.filter { $0.rule == .period || !$0.interval.isEmpty }
    }
}
