/// Non-consumables. They give access from the purchase until it is revoked, or indefinitely.
extension Purchase {
    /// All transactions combined. Restoring a purchase creates a new transaction, so the prevailing
    /// statement counts, whichever transaction it is about.
    var whole: Transaction? {
        guard evidence.count > 1, let fact = wholeFact else { return transactions.first }
        return products.firstIndex(of: fact.product).map { Transaction(fact, product: $0) }
    }

    /// The prevailing fact among all transactions.
    var wholeFact: TransactionFact? {
        guard var all = evidence.first else { return nil }
        for other in evidence.dropFirst() { all.join(other) }
        return all.effective
    }

    /// Returns the transaction behind a right. For a lifetime right, this is all transactions combined.
    func transaction(behind right: Right, at index: Int) -> Transaction {
        (right.rule == .lifetime && !isRead ? whole : nil) ?? transactions[index]
    }

    /// The earliest start stated by any transaction.
    var firstPurchased: Instant? { transactions.lazy.map(\.firstPurchased).min() }
}

extension Transaction {
    /// Returns the lifetime access that the purchase gives from its first transaction on.
    func lifetime(since first: Instant, of source: Right.Source) -> Right {
        var right = Right(.lifetime, of: source, Interval(start: first, end: nil))
        if let revokedAt { right.cut(at: revokedAt, by: .revocation) }
        return right
    }
}
