/// Auto-renewable subscriptions. They give access during their periods and during the grace periods that follow. A
/// period lasts until it expires, is revoked or is upgraded. The periods of one purchase are sorted by start.
extension [Transaction] {
    /// Returns the access that one period gives.
    func period(_ index: Int, of source: Right.Source) -> Right {
        let (start, expires) = (self[index].start, self[index].expires)
        // A period without a stated end gives no access, because its access would never end.
        var right = Right(.period, of: source, Interval(start: start, end: expires ?? start))
        let replaced = successor(of: index).map { self[$0].start }
        if let replaced { right.cut(at: replaced, by: .upgrade) }
        if let revokedAt = self[index].revokedAt {
            // The store refunds the rest of an upgraded period, so this is not a separate
            // revocation.
            right.cut(at: revokedAt, by: replaced == nil ? .revocation : .upgrade)
        }
        return right
    }

    /// Returns the period that replaces this one when it starts, if any. Its start ends the access, and the log then
    /// calls the transaction upgraded.
    func successor(of index: Int) -> Int? {
        let former = self[index]
        if former.neverBegan || former.isRead { return nil }
        return changeBeforeStart(of: index)
            ?? replacement(of: index, before: endIndex) { changeBeforeRenewal(at: $0) != nil }
    }

    /// Returns the first period that takes this one's place, among the later periods before `end` that began.
    private func replacement(
        of index: Int, before end: Int, without neverBegan: (Int) -> Bool
    ) -> Int? {
        let former = self[index]
        for next in (index + 1)..<end {
            if self[next].takesPlace(of: former), !neverBegan(next) { return next }
            if !former.isUpgraded, !former.isRunning(at: self[next].start) { return nil }
        }
        return nil
    }

    /// Returns the period that replaces both this one and its predecessor. The customer changed to it after the
    /// renewal was charged and before the renewal began.
    func changeBeforeStart(of index: Int) -> Int? {
        changeAfterSale(of: index) ?? changeBeforeRenewal(at: index)
    }

    /// Returns the change that followed the renewal's charge, if the store's last signature shows when that was.
    private func changeAfterSale(of index: Int) -> Int? {
        guard !self[index].isRead, let soldAt = self[index].vouchedAt else { return nil }
        return self[..<index].indices.reversed().prefix { soldAt < self[$0].start }
            .last { self[$0].product != self[index].product && !self[$0].neverBegan }
    }

    /// Returns the change that replaced the former period before this one, its renewal, began. The store may sign a
    /// renewal again after the change, which hides when the renewal was charged. Its start still shows what it is: the
    /// moment at which the former period was due to expire.
    private func changeBeforeRenewal(at index: Int) -> Int? {
        if !beginsDuringAnother(index) { return nil }
        // A renewal that never began is no change, either. One pass from the start decides each renewal only once.
        var changes: [Int: Int] = [:]
        for place in 1...index where beginsDuringAnother(place) {
            let former = self[..<place].lastIndex {
                $0.product == self[place].product && $0.expires == self[place].start
            }
            guard let former, !self[former].neverBegan, changes[former] == nil,
                changeAfterSale(of: former) == nil
            else { continue }
            changes[place] = replacement(of: former, before: place) { changes[$0] != nil }
        }
        return changes[index]
    }

    /// Returns whether the previous period is one of another product, and was not over when this one began.
    private func beginsDuringAnother(_ index: Int) -> Bool {
        guard index > 0, !self[index].isRead else { return false }
        let (previous, start) = (self[index - 1], self[index].start)
        guard previous.product != self[index].product, let end = previous.expires else {
            return false
        }
        return start < end && previous.revokedAt.map { start < $0 } ?? true
    }

    /// Returns the access that a grace period gives after a period. The store must have signed the statement about the
    /// grace period during or after the period, but before the next one began. The grace ends if the period is revoked
    /// or the next one begins.
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

    /// Returns the start of the first period that begins after this one.
    func start(after index: Int) -> Instant? {
        indices[(index + 1)...].first(where: begins).map { self[$0].start }
    }

    /// Returns whether the period began. A renewal did not begin if it was revoked after the charge, or if a change
    /// replaced it.
    func begins(_ index: Int) -> Bool {
        !self[index].neverBegan && changeBeforeStart(of: index) == nil
    }
}

extension Transaction {
    /// Returns whether this period replaced one that had not expired. The store flags the replaced period as
    /// upgraded, but often only when asked for the history. Until then, the start of a period with another product
    /// shows the replacement: a change that waits for the renewal begins only when the former period expires.
    fileprivate func takesPlace(of former: Transaction) -> Bool {
        // The renewal had already been charged when the customer changed to that product.
        let wasSoldBefore = vouchedAt.map { $0 < former.start } ?? false
        if wasSoldBefore || neverBegan { return false }
        if former.isUpgraded { return true }
        return product != former.product && former.isRunning(at: start)
            && !waitedForRenewal(of: former) && !former.isRenewed(at: start)
    }

    /// Returns whether the store announced this product for the next renewal at a time when it could already charge for
    /// the former period. If so, the renewal starts this product, however early it begins.
    private func waitedForRenewal(of former: Transaction) -> Bool {
        guard let announcedAt else { return false }
        return announcedAt >= former.start.advanced(byMilliseconds: -former.earliness)
    }

    /// Whether the store revoked the transaction before it began.
    var neverBegan: Bool { expires != nil && revokedAt.map { $0 <= start } ?? false }

    fileprivate func isRunning(at instant: Instant) -> Bool {
        guard let expires, instant < expires else { return false }
        return revokedAt.map { instant <= $0 } ?? true
    }

    /// Returns whether a period that begins at `instant`, slightly before this one expires, is only this one's
    /// renewal. It is a renewal if the store later signed this period again without flagging it as upgraded.
    private func isRenewed(at instant: Instant) -> Bool {
        guard let expires, let vouchedAt, vouchedAt >= instant else { return false }
        return instant >= expires.advanced(byMilliseconds: -earliness)
    }

    /// How early the store may charge for a period: a day. The shortest period on sale lasts a week. In
    /// the sandbox, where a week lasts minutes, a seventh of the period corresponds to a day.
    fileprivate var earliness: Int64 {
        let day: Int64 = 86_400_000
        guard let expires else { return day }
        let (length, overflow) = expires.milliseconds.subtractingReportingOverflow(
            start.milliseconds)
        return overflow ? day : max(0, min(day, length / 7))
    }
}

extension Purchase {
    /// Every grace period that the store has ever given.
    var graces: [Grace] { renewals.compactMap(Grace.init) }
}

/// A store's promise that access continues until an instant although a payment failed.
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
    /// Whether the fact still counts once a later one is known. A recovery does not undo the access
    /// from a grace period, and a renewal does not undo the change that was announced for it.
    var countsForGood: Bool { graceUntil != nil || announcesChange }

    /// Whether the next renewal is for a different product.
    var announcesChange: Bool {
        guard let product, let nextProduct else { return false }
        return nextProduct != product
    }
}

/// What is expected to happen to a subscription, such as its next renewal. Does not cover access.
extension Purchase {
    /// Returns whether the store has revoked the newest period, perhaps after it expired. The subscription then does
    /// not continue, and it is unknown whether the refund ended a grace period.
    func isTakenBack(at index: Int) -> Bool {
        guard transactions[index].revokedAt != nil, transactions[index].expires != nil else {
            return false
        }
        return index == newestPlace && transactions.successor(of: index) == nil
    }

    /// The store's statement about the renewal of the newest period; `nil` if the newest statement
    /// is about an earlier period.
    var currentRenewal: RenewalFact? {
        guard let renewal, let place = newestPlace else { return renewal }
        // The statement may have come with the charge for this period, while the previous one was
        // still running.
        let earliness = transactions[...place].suffix(2).lazy.map(\.earliness).max() ?? 0
        let earliest = transactions[place].start.advanced(byMilliseconds: -earliness)
        return renewal.signedAt >= earliest ? renewal : nil
    }
}
