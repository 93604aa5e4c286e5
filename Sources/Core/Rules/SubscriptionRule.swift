/// Auto-renewable subscriptions: the union of their periods, each until it expires, is taken back or
/// is upgraded, and of the grace that the store gave after them.
extension Purchase {
    /// The access of one period.
    func period(_ index: Int, of source: Right.Source) -> Right {
        let transaction = transactions[index]
        // A period whose end nobody stated gives nothing, rather than access for ever.
        let end = transaction.expires ?? transaction.start
        var right = Right(.period, of: source, Interval(start: transaction.start, end: end))
        if transaction.isUpgraded, let next = start(after: index) {
            right.cut(at: next, by: .upgrade)
        }
        if let revokedAt = transaction.revokedAt { right.cut(at: revokedAt, by: .revocation) }
        return right
    }

    /// The access that follows one period by the grace that was signed during it or after it, but
    /// before the next one began. It shares the fate of its period, and it is over when the next
    /// one begins.
    func grace(after index: Int, of source: Right.Source) -> Right? {
        let next = start(after: index)
        let transaction = transactions[index]
        let named = graces.lazy.filter { grace in
            transaction.start <= grace.signedAt && next.map { grace.signedAt < $0 } ?? true
        }
        guard let end = named.map(\.until).max(), let expires = transaction.expires, expires < end
        else { return nil }
        var right = Right(.grace, of: source, Interval(start: expires, end: end))
        if let next { right.cut(at: next, by: .recovery) }
        if let revokedAt = transaction.revokedAt { right.cut(at: revokedAt, by: .revocation) }
        return right.interval.isEmpty ? nil : right
    }

    /// When the period after that one begins.
    private func start(after index: Int) -> Instant? {
        index + 1 < transactions.endIndex ? transactions[index + 1].start : nil
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
