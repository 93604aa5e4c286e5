/// Auto-renewable subscriptions: the union of their periods, each until it expires, is taken back or
/// is upgraded, and of the grace that the store gave after them. The periods of one purchase are in
/// order of start.
extension [Transaction] {
    /// The access of one period.
    func period(_ index: Int, of source: Right.Source) -> Right {
        let (start, expires) = (self[index].start, self[index].expires)
        // A period without a stated end gives nothing, rather than access for ever.
        var right = Right(.period, of: source, Interval(start: start, end: expires ?? start))
        let replaced = successor(of: index).map { self[$0].start }
        if let replaced { right.cut(at: replaced, by: .upgrade) }
        if let revokedAt = self[index].revokedAt {
            // The store refunds the rest of a period that was upgraded: that is not other news.
            right.cut(at: revokedAt, by: replaced == nil ? .revocation : .upgrade)
        }
        return right
    }

    /// The period that takes the place of that one when it begins, if one does. Access ends by this,
    /// and by this the log calls a transaction an upgrade.
    func successor(of index: Int) -> Int? {
        let former = self[index]
        if former.neverBegan { return nil }
        if let earlier = changeBeforeStart(of: index) { return earlier }
        for next in (index + 1)..<endIndex {
            if self[next].takesPlace(of: former) { return next }
            if !former.isUpgraded, !former.isRunning(at: self[next].start) { return nil }
        }
        return nil
    }

    /// The period to which the customer changed after the renewal that opens that one was charged, and
    /// before it began: it takes the place of both.
    func changeBeforeStart(of index: Int) -> Int? {
        guard let soldAt = self[index].vouchedAt else { return nil }
        return self[..<index].indices.reversed().prefix { soldAt < self[$0].start }
            .last { self[$0].product != self[index].product && !self[$0].neverBegan }
    }

    /// The access that follows one period by the grace that was signed during it or after it, but
    /// before the next one began. It shares the fate of its period, and it is over when the next
    /// one begins.
    func grace(after index: Int, of source: Right.Source, among graces: [Grace]) -> Right? {
        if !begins(index) { return nil }
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

    /// When the next period after that one begins.
    private func start(after index: Int) -> Instant? {
        indices[(index + 1)...].first(where: begins).map { self[$0].start }
    }

    /// Whether that period came to begin. A renewal that was charged and then taken back, or gave way to a
    /// change, did not.
    func begins(_ index: Int) -> Bool {
        !self[index].neverBegan && changeBeforeStart(of: index) == nil
    }
}

extension Transaction {
    /// Whether this period began in the place of one that has not expired. The store flags that one
    /// as upgraded, though often not before it is asked for the history. Until then a period of another
    /// product tells it: what waits for the renewal begins when the former period expires.
    fileprivate func takesPlace(of former: Transaction) -> Bool {
        // The renewal was charged already when the customer changed to that product.
        let wasSoldBefore = vouchedAt.map { $0 < former.start } ?? false
        if wasSoldBefore || neverBegan { return false }
        if former.isUpgraded { return true }
        return product != former.product && former.isRunning(at: start)
            && !waitedForRenewal(of: former) && !former.isRenewed(at: start)
    }

    /// Whether the store said, since it could charge for the former period, that this product comes with the
    /// next renewal: then it does, however early that begins.
    private func waitedForRenewal(of former: Transaction) -> Bool {
        guard let announcedAt else { return false }
        return announcedAt >= former.start.advanced(byMilliseconds: -former.earliness)
    }

    /// Whether the store took it back before it began.
    var neverBegan: Bool { expires != nil && revokedAt.map { $0 <= start } ?? false }

    fileprivate func isRunning(at instant: Instant) -> Bool {
        guard let expires, instant < expires else { return false }
        return revokedAt.map { instant <= $0 } ?? true
    }

    /// Whether what begins then, a little before this expires, only renews it: the store signed this
    /// later, and did not flag it.
    private func isRenewed(at instant: Instant) -> Bool {
        guard let expires, let vouchedAt, vouchedAt >= instant else { return false }
        return instant >= expires.advanced(byMilliseconds: -earliness)
    }

    /// How long before a period the store may charge for it: a day. Nothing is sold for less than a week; in the
    /// sandbox that lasts minutes, and a day a seventh of them.
    fileprivate var earliness: Int64 {
        let day: Int64 = 86_400_000
        guard let expires else { return day }
        let (length, overflow) = expires.milliseconds.subtractingReportingOverflow(
            start.milliseconds)
        return overflow ? day : max(0, min(day, length / 7))
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

extension RenewalFact {
    /// Whether it counts also when a later one is known: a recovery does not unmake the access that a grace
    /// gave, nor a renewal what was announced for it.
    var countsForGood: Bool { graceUntil != nil || announcesChange }

    /// Whether another product comes with the next renewal.
    var announcesChange: Bool {
        guard let product, let nextProduct else { return false }
        return nextProduct != product
    }
}

/// What a subscription will do, apart from the access that it gives.
extension Purchase {
    /// Whether the store has taken the newest period back, also after it expired: then nothing goes on, and
    /// it is not known whether there was a grace that the refund ended.
    func isTakenBack(at index: Int) -> Bool {
        guard transactions[index].revokedAt != nil, transactions[index].expires != nil else {
            return false
        }
        return index == newestPlace && transactions.successor(of: index) == nil
    }

    /// What the store says about the newest period's renewal; nothing when its newest word is about
    /// an earlier period.
    var currentRenewal: RenewalFact? {
        guard let renewal, let place = newestPlace else { return renewal }
        // It may have come with the charge for that period, in the one before.
        let earliness = transactions[...place].suffix(2).lazy.map(\.earliness).max() ?? 0
        let earliest = transactions[place].start.advanced(byMilliseconds: -earliness)
        return renewal.signedAt >= earliest ? renewal : nil
    }
}
