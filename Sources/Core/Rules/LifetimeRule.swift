/// Non-consumables: access from the purchase until its revocation, otherwise without end.
extension Purchase {
    /// All transactions combined: a restore gives the same purchase a fresh transaction, so the
    /// statement that outweighs the rest counts, whichever transaction it is about.
    var whole: Transaction? {
        guard evidence.count > 1, let fact = wholeFact else { return transactions.first }
        return products.firstIndex(of: fact.product).map { Transaction(fact, product: $0) }
    }

    /// The fact behind all transactions combined.
    var wholeFact: TransactionFact? {
        guard var all = evidence.first else { return nil }
        for other in evidence.dropFirst() { all.join(other) }
        return all.effective
    }

    /// The transaction behind a right; for a lifetime, all transactions combined.
    func transaction(behind right: Right, at index: Int) -> Transaction {
        (right.rule == .lifetime && !isRead ? whole : nil) ?? transactions[index]
    }

    /// The earliest start that any transaction states.
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
