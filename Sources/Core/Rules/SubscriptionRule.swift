/// Auto-renewable subscriptions: the union of their periods, each until it expires, is taken back or
/// is upgraded, and of the grace that the store gave after them.
extension Transaction {
    /// The access of this period; `next` is when the one after it begins.
    func period(before next: Instant?, of source: Right.Source) -> Right {
        // A period whose end nobody stated gives nothing, rather than access for ever.
        var right = Right(.period, of: source, Interval(start: start, end: expires ?? start))
        if isUpgraded, let next { right.cut(at: next, by: .upgrade) }
        if let revokedAt { right.cut(at: revokedAt, by: .revocation) }
        return right
    }

    /// The access that follows this period by the grace that was signed during it or after it, but
    /// before the next one began. It shares the fate of its period, and it is over when the next
    /// one begins.
    func grace(before next: Instant?, of source: Right.Source, among graces: [Grace]) -> Right? {
        let named = graces.filter { grace in
            start <= grace.signedAt && next.map { grace.signedAt < $0 } ?? true
        }
        guard let end = named.map(\.until).max(), let expires, expires < end else { return nil }
        var right = Right(.grace, of: source, Interval(start: expires, end: end))
        if let next { right.cut(at: next, by: .recovery) }
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
    /// Stores charge for a renewal up to a day before the period that it opens.
    private static let earliestRenewal: Int64 = 86_400_000

    /// What the store says about the newest period's renewal; nothing when its newest word is about
    /// an earlier period.
    var currentRenewal: RenewalFact? {
        guard let renewal, let start = transactions.last?.start else { return renewal }
        let earliest = start.advanced(byMilliseconds: -Purchase.earliestRenewal)
        return renewal.signedAt >= earliest ? renewal : nil
    }
}
