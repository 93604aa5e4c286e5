/// When to ask the store about a subscription because news of it is overdue.
extension Purchase {
    /// How late news may be before Deed asks. Stores report a renewal at once, but it may be
    /// slightly late.
    static let latestNews: Int64 = 5 * 60_000
    /// How long a store may be silent about a subscription that continues.
    static let longestSilence: Int64 = 30 * 86_400_000

    /// When to ask the store, unless it reports something first; `nil` for a purchase that never
    /// renews, and for one that has ended according to the store.
    ///
    /// The time counts from the store's last statement about the renewal, because a transaction
    /// alone does not show what follows it.
    package var inquiryAt: Instant? {
        if isRead { return readInquiryAt }
        guard let newest, let end = newest.expires,
            statedKind ?? .autoRenewable == .autoRenewable
        else { return nil }
        let told = renewal?.signedAt ?? newest.purchased
        let silent = told.advanced(byMilliseconds: Purchase.longestSilence)
        if told < end { return min(end.advanced(byMilliseconds: Purchase.latestNews), silent) }
        return renewal?.isInBillingRetry == true ? silent : nil
    }

    /// Whether it states more than an earlier state of the same purchase. The time of signing and
    /// the kind of evidence do not count.
    package func tellsMore(than other: Purchase?) -> Bool {
        guard let other else { return true }
        let (mine, theirs) = (words, other.words)
        return mine.transactions != theirs.transactions || mine.renewal != theirs.renewal
    }

    /// The purchase with the relevant facts added.
    package func joined(with facts: [Facts]) -> Purchase {
        var joined = self
        for fact in facts.lazy.flatMap(\.transactions) where isSame(as: fact) {
            joined.join(fact)
        }
        for fact in facts.lazy.flatMap(\.renewals) where fact.purchase == id { joined.join(fact) }
        return joined
    }

    private var words: (transactions: [TransactionFact], renewal: RenewalFact?) {
        (evidence.map(\.effective.unsigned), renewal?.unsigned)
    }
}

extension CustomerState {
    /// When to ask the store about any of the customer's subscriptions.
    package var inquiryAt: Instant? { purchases.lazy.compactMap(\.inquiryAt).min() }
}

extension TransactionFact {
    /// Whether this is the store's first direct statement about the transaction, or its first one
    /// after the end. Each of these is kept once, so that repeated inquiries create no events for
    /// known facts.
    func settles(_ known: TransactionFact) -> Bool {
        guard rank == .serverAPI, known.signedAt < signedAt else { return false }
        if known.rank < .serverAPI { return true }
        return expires.map { known.signedAt < $0 && $0 <= signedAt } ?? false
    }

    /// The fact without its rank and time of signing.
    fileprivate var unsigned: TransactionFact {
        var fact = self
        (fact.signedAt, fact.rank) = (.distantPast, .offlineReceipt)
        return fact
    }
}

extension RenewalFact {
    /// The fact without its rank and time of signing.
    fileprivate var unsigned: RenewalFact {
        var fact = self
        (fact.signedAt, fact.rank) = (.distantPast, .offlineReceipt)
        return fact
    }
}
