/// Auto-renewable subscriptions: the union of their periods, each until it expires, is taken back or
/// is upgraded, and of the grace that the store gave after them.
extension Transaction {
    /// Stores charge for a renewal up to a day before the period that it opens.
    static let earliestRenewal: Int64 = 86_400_000

    /// The access of this period; `next` is the one that begins after it.
    func period(before next: Transaction?, of source: Right.Source) -> Right {
        // A period whose end nobody stated gives nothing, rather than access for ever.
        var right = Right(.period, of: source, Interval(start: start, end: expires ?? start))
        let replacement = next.flatMap { isReplaced(by: $0) ? $0 : nil }
        if let replacement { right.cut(at: replacement.start, by: .upgrade) }
        if let revokedAt {
            // The store refunds the rest of a period that was upgraded: that is no other news.
            right.cut(at: revokedAt, by: replacement == nil ? .revocation : .upgrade)
        }
        return right
    }

    /// Whether the next period takes this one's place. The store says so, though often not until it
    /// is asked for the history; but another product never begins long before a renewal is due
    /// unless it is an upgrade.
    private func isReplaced(by next: Transaction) -> Bool {
        guard let expires, !isUpgraded else { return isUpgraded }
        let renewal = expires.advanced(byMilliseconds: -Transaction.earliestRenewal)
        return next.product != product && next.start < renewal
    }

    /// The access that follows this period by the grace that was signed during it or after it, but
    /// before the next one began. It shares the fate of its period, and it is over when the next
    /// one begins.
    func grace(
        before next: Transaction?, of source: Right.Source, among graces: [Grace]
    ) -> Right? {
        let named = graces.filter { grace in
            start <= grace.signedAt && next.map { grace.signedAt < $0.start } ?? true
        }
        guard let end = named.map(\.until).max(), let expires, expires < end else { return nil }
        var right = Right(.grace, of: source, Interval(start: expires, end: end))
        if let next { right.cut(at: next.start, by: .recovery) }
        if let revokedAt { right.cut(at: revokedAt, by: .revocation) }
        return right.interval.isEmpty ? nil : right
    }
}

extension Purchase {
    /// Every grace that the store ever gave.
    var graces: [Grace] { renewals.compactMap(Grace.init) }
}

/// A promise of the store: access goes on until then although a payment failed.
struct Grace: Hashable, Sendable {
    let signedAt: Instant
    let until: Instant

    init?(_ fact: RenewalFact) {
        guard let until = fact.graceUntil else { return nil }
        self.until = until
        signedAt = fact.signedAt
    }
}

/// What a subscription will do, apart from the access that it gives.
extension Purchase {
    /// What the store says about the newest period's renewal; nothing when its newest word is about
    /// an earlier period.
    var currentRenewal: RenewalFact? {
        guard let renewal, let start = transactions.last?.start else { return renewal }
        let earliest = start.advanced(byMilliseconds: -Transaction.earliestRenewal)
        return renewal.signedAt >= earliest ? renewal : nil
    }
}
