/// When to ask the store about a subscription with overdue news.
extension Purchase {
    /// How late news may be before Deed asks the store. Stores report a renewal at once, but the
    /// report may be slightly delayed.
    static let latestNews: Int64 = 5 * 60_000
    /// How long a store may stay silent about a continuing subscription.
    static let longestSilence: Int64 = 30 * 86_400_000

    /// When to ask the store, unless it reports something first; `nil` for a purchase that never
    /// renews, or that has ended according to the store.
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

    /// Returns whether the purchase contains more statements than its earlier state. The signing time and the kind of
    /// evidence do not count.
    package func tellsMore(than other: Purchase?) -> Bool {
        guard let other else { return true }
        let (mine, theirs) = (words, other.words)
        return mine.transactions != theirs.transactions || mine.renewal != theirs.renewal
    }

    /// Returns the purchase joined with the facts that concern it.
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
    /// When to ask the store about the first of the customer's subscriptions that is due.
    package var inquiryAt: Instant? { purchases.lazy.compactMap(\.inquiryAt).min() }
}

extension TransactionFact {
    /// Returns whether this is the store's first direct statement about the transaction, or its first one after the
    /// transaction's end. Both are recorded once, so that repeated inquiries do not create events for known facts.
    func settles(_ known: TransactionFact) -> Bool {
        guard rank == .serverAPI, known.signedAt < signedAt else { return false }
        if known.rank < .serverAPI { return true }
        return expires.map { known.signedAt < $0 && $0 <= signedAt } ?? false
    }

    /// The fact without its rank and signing time.
    fileprivate var unsigned: TransactionFact {
        var fact = self
        (fact.signedAt, fact.rank) = (.distantPast, .offlineReceipt)
        return fact
    }
}

extension RenewalFact {
    /// The fact without its rank and signing time.
    fileprivate var unsigned: RenewalFact {
        var fact = self
        (fact.signedAt, fact.rank) = (.distantPast, .offlineReceipt)
        return fact
    }
}
