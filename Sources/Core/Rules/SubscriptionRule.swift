/// Auto-renewable subscriptions: the union of their periods, each until it expires, is taken back or
/// is upgraded, and of the grace that the store gave after them. The periods of one purchase are in
/// order of start.
extension [Transaction] {
    /// The access of one period.
    func period(_ index: Int, of source: Right.Source) -> Right {
        let (start, expires) = (self[index].start, self[index].expires)
        // A period without a stated end gives nothing, rather than access for ever.
        var right = Right(.period, of: source, Interval(start: start, end: expires ?? start))
        let replaced = replacement(of: index)
        if let replaced { right.cut(at: replaced, by: .upgrade) }
        if let revokedAt = self[index].revokedAt {
            // The store refunds the rest of a period that was upgraded: that is not other news.
            right.cut(at: revokedAt, by: replaced == nil ? .revocation : .upgrade)
        }
        return right
    }

    /// When the next period takes the place of that one, if it does. The store says so, though often
    /// not until it is asked for the history; but another product never begins long before a renewal
    /// is due unless it is an upgrade.
    private func replacement(of index: Int) -> Instant? {
        guard let next = start(after: index) else { return nil }
        if self[index].isUpgraded { return next }
        guard let expires = self[index].expires, self[index + 1].product != self[index].product
        else { return nil }
        let renewal = expires.advanced(byMilliseconds: -Transaction.earliestRenewal)
        return next < renewal ? next : nil
    }

    /// The access that follows one period by the grace that was signed during it or after it, but
    /// before the next one began. It shares the fate of its period, and it is over when the next
    /// one begins.
    func grace(after index: Int, of source: Right.Source, among graces: [Grace]) -> Right? {
        let (start, next) = (self[index].start, start(after: index))
        let named = graces.filter { grace in
            start <= grace.signedAt && next.map { grace.signedAt < $0 } ?? true
        }
        guard let end = named.map(\.until).max(), let expires = self[index].expires, expires < end
        else { return nil }
        var right = Right(.grace, of: source, Interval(start: expires, end: end))
        if let next { right.cut(at: next, by: .recovery) }
        if let revokedAt = self[index].revokedAt { right.cut(at: revokedAt, by: .revocation) }
        return right.interval.isEmpty ? nil : right
    }

    /// When the period after that one begins.
    private func start(after index: Int) -> Instant? {
        index + 1 < endIndex ? self[index + 1].start : nil
    }
}

extension Transaction {
    /// Stores charge for a renewal up to a day before the period that it opens.
    static let earliestRenewal: Int64 = 86_400_000
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
