/// When the store is to be asked about a subscription, because it should have told something by then.
extension Purchase {
    /// Stores report a renewal immediately; Deed does not ask for one that is a little late.
    private static let latestNews: Int64 = 5 * 60_000
    /// How long a store may say nothing of a subscription that goes on.
    private static let longestSilence: Int64 = 30 * 86_400_000

    /// From when on the store is to be asked, unless it tells something before; `nil` for what never
    /// renews, and for what ended by the store's own word.
    ///
    /// The store's word is about renewal: a transaction alone does not tell what comes behind it.
    package var inquiryAt: Instant? {
        guard let newest, let end = newest.expires,
            statedKind ?? .autoRenewable == .autoRenewable
        else { return nil }
        let told = renewal?.signedAt ?? newest.purchased
        let silent = told.advanced(byMilliseconds: Purchase.longestSilence)
        if told < end { return min(end.advanced(byMilliseconds: Purchase.latestNews), silent) }
        return renewal?.isInBillingRetry == true ? silent : nil
    }

    /// Whether it says more than an earlier state of the same purchase. When it was signed, and
    /// in which evidence, is nothing more.
    package func tellsMore(than other: Purchase?) -> Bool {
        guard let other else { return true }
        let (mine, theirs) = (words, other.words)
        return mine.transactions != theirs.transactions || mine.renewal != theirs.renewal
    }

    /// The same when these facts are known, too, as far as they are about it.
    package func joined(with facts: [Facts]) -> Purchase {
        var joined = self
        for fact in facts.lazy.flatMap(\.transactions) where fact.purchase == id {
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
    /// From when on the store is to be asked about any of the customer's subscriptions.
    package var inquiryAt: Instant? { purchases.lazy.compactMap(\.inquiryAt).min() }
}

extension TransactionFact {
    /// Whether this is the store's own word where there was none about the transaction, or the first after
    /// its end. Each is kept once, so that no round of questions makes an event for all that is known.
    func settles(_ known: TransactionFact) -> Bool {
        guard rank == .serverAPI, known.signedAt < signedAt else { return false }
        if known.rank < .serverAPI { return true }
        return expires.map { known.signedAt < $0 && $0 <= signedAt } ?? false
    }

    /// The same without its rank and the instant of its signature.
    fileprivate var unsigned: TransactionFact {
        var fact = self
        (fact.signedAt, fact.rank) = (.distantPast, .offlineReceipt)
        return fact
    }
}

extension RenewalFact {
    /// The same without its rank and the instant of its signature.
    fileprivate var unsigned: RenewalFact {
        var fact = self
        (fact.signedAt, fact.rank) = (.distantPast, .offlineReceipt)
        return fact
    }
}
