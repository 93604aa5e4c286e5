/// Non-consumables: access from the purchase until it is taken back, else for ever.
extension Purchase {
    /// All transactions as one: a restore gives the same purchase a fresh transaction, so the
    /// statement that outweighs the rest counts, whichever of them it is about.
    var whole: Transaction? {
        guard evidence.count > 1, let fact = wholeFact else { return transactions.first }
        return products.firstIndex(of: fact.product).map { Transaction(fact, product: $0) }
    }

    /// What all transactions as one come to.
    var wholeFact: TransactionFact? {
        guard var all = evidence.first else { return nil }
        for other in evidence.dropFirst() { all.join(other) }
        return all.effective
    }

    /// The transaction that a right comes from; of a lifetime, all of them as one.
    func transaction(behind right: Right, at index: Int) -> Transaction {
        (right.rule == .lifetime ? whole : nil) ?? transactions[index]
    }

    /// When it was first bought, as far as any transaction tells.
    var firstPurchased: Instant? { transactions.lazy.map(\.firstPurchased).min() }
}

extension Transaction {
    /// The access of a whole purchase since it was first bought.
    func lifetime(since first: Instant, of source: Right.Source) -> Right {
        var right = Right(.lifetime, of: source, Interval(start: first, end: nil))
        if let revokedAt { right.cut(at: revokedAt, by: .revocation) }
        return right
    }
}
