import Core

/// Subscriptions, according to the page about the rules.
extension NaiveModel {
    func periods(_ original: String, _ all: [Weighed]) -> [Source] {
        let renewal = newestRenewal(original, all)
        var sources: [Source] = []
        for (index, period) in all.enumerated() where counts(period) {
            guard let expires = period.expires else { continue }
            let next = all[(index + 1)...].first { begins($0, among: all) }
            var source = Source(
                entitlements: product(of: period).entitlements,
                product: period.fact.product.text, start: period.start, end: expires,
                stateInside: period.fact.offer?.discount == .freeTrial ? "trial" : "active",
                stateAfter: next == nil && renewal?.isInBillingRetry == true ? "retry" : "expired",
                willRenew: willRenew(renewal, after: period), isSubscription: true)
            let successor = all[(index + 1)...].first {
                takesOver($0, from: period, among: all)
            }
            if let successor { source.end(at: successor.start, as: "upgraded") }
            let gaveWay = givesWay(period, among: all)
            if gaveWay { source.end(at: period.start, as: "upgraded") }
            if let revoked = period.revoked {
                let state = successor == nil && !gaveWay ? "revoked" : "upgraded"
                source.end(at: revoked.at.milliseconds, as: state)
            }
            // Only the newest period's refund decides whether the store has revoked the subscription.
            if successor == nil, period.id == newest(all)?.id {
                source.isTakenBack = period.revoked != nil
            }
            sources += withItems(of: period, source)
            // If several grace periods follow one period, the longest one counts.
            let named = facts.renewals.filter { fact in
                fact.original.text == original
                    && all.last {
                        $0.start <= fact.signedAt.milliseconds && begins($0, among: all)
                    }?.id == period.id
            }
            if let until = named.compactMap(\.graceUntil?.milliseconds).max(), expires < until {
                var grace = source
                (grace.start, grace.end) = (expires, until)
                (grace.isGrace, grace.stateInside) = (true, "grace")
                grace.stateAfter =
                    next == nil && renewal?.isInBillingRetry == true ? "retry" : "expired"
                if let next { grace.end(at: next.start, as: grace.stateAfter) }
                if let revoked = period.revoked {
                    grace.end(at: revoked.at.milliseconds, as: "revoked")
                }
                if grace.end != grace.start {
                    sources += withItems(of: period, grace).filter { $0.end != $0.start }
                }
            }
        }
        return sources
    }

    /// Returns whether another period follows. After the last period of a cancelled commitment, none does.
    private func willRenew(_ renewal: RenewalFact?, after period: Weighed) -> Bool? {
        if let commitment = period.fact.commitment, commitment.period == commitment.periods,
            renewal?.willCommitAgain == false
        {
            return false
        }
        return renewal?.willRenew
    }

    /// Returns whether the next product replaces the former period. A different product that begins
    /// before the period's end is an upgrade, with or without a flag. There are two exceptions: the
    /// store announced the product for the renewal, or the product begins so late that it may be
    /// the renewal and the store later called the former period not upgraded.
    private func takesOver(
        _ next: Weighed, from former: Weighed, among all: [Weighed]
    ) -> Bool {
        let wasSoldBefore = isSigned(next) && next.fact.signedAt.milliseconds < former.start
        if wasSoldBefore || neverBegan(next) || neverBegan(former) { return false }
        if renewsWhatWasLeft(next, among: all) { return false }
        if former.isUpgraded { return true }
        guard let expires = former.expires, next.start < expires,
            next.fact.product != former.fact.product
        else { return false }
        if let revoked = former.revoked, revoked.at.milliseconds < next.start { return false }
        let wasAnnounced = facts.renewals.contains { word in
            word.original == former.fact.original && word.product != nil
                && word.nextProduct == next.fact.product && word.nextProduct != word.product
                && word.signedAt.milliseconds < next.start
                && word.signedAt.milliseconds >= former.start - lead(former)
        }
        if wasAnnounced { return false }
        let isLate = next.start >= expires - lead(former)
        return !(isLate && isSigned(former) && former.fact.signedAt.milliseconds >= next.start)
    }

    /// Returns whether the period was sold as a renewal before the customer switched to something that began earlier.
    private func givesWay(_ period: Weighed, among all: [Weighed]) -> Bool {
        if neverBegan(period) { return false }
        if renewsWhatWasLeft(period, among: all) { return true }
        return isSigned(period)
            && all.contains { other in
                other.start < period.start && period.fact.signedAt.milliseconds < other.start
                    && other.fact.product != period.fact.product && !neverBegan(other)
            }
    }

    /// Returns whether the period begins exactly when a former period of its product was due to expire, although the
    /// customer had switched to something else during that former period, and the previous period was sold for longer.
    /// It was then sold before the switch, whenever the store signed it last.
    private func renewsWhatWasLeft(_ period: Weighed, among all: [Weighed]) -> Bool {
        let earlier = Array(all.prefix { $0.id != period.id })
        guard let running = earlier.last, running.fact.product != period.fact.product,
            let end = running.expires, period.start < end,
            running.revoked.map({ period.start < $0.at.milliseconds }) ?? true,
            let place = earlier.lastIndex(where: {
                $0.fact.product == period.fact.product && $0.expires == period.start
            }), begins(earlier[place], among: earlier)
        else { return false }
        return earlier[(place + 1)...].contains {
            takesOver($0, from: earlier[place], among: earlier)
        }
    }

    private func begins(_ period: Weighed, among all: [Weighed]) -> Bool {
        !neverBegan(period) && !givesWay(period, among: all)
    }

    private func isSigned(_ weighed: Weighed) -> Bool { weighed.fact.rank.rawValue > 2 }

    /// Returns whether a renewal was revoked before its period began.
    private func neverBegan(_ weighed: Weighed) -> Bool {
        guard let revoked = weighed.revoked, weighed.expires != nil else { return false }
        return revoked.at.milliseconds <= weighed.start
    }

    /// Returns how early a period's renewal may be charged, according to the store's pages: up to a
    /// day, for periods of a week or more. Shorter periods occur in the sandbox, where a week lasts
    /// three minutes, for example, and a day is shorter in proportion.
    private func lead(_ period: Weighed) -> Int64 {
        let week = 7 * day
        guard let expires = period.expires, expires - period.start < week else { return day }
        return max(0, (expires - period.start) * day / week)
    }

    private func newest(_ periods: [Weighed]) -> Weighed? {
        newestPlace(periods).map { periods[$0] }
    }

    private func newestPlace(_ periods: [Weighed]) -> Int? {
        periods.lastIndex { begins($0, among: periods) } ?? periods.indices.last
    }

    private func newestRenewal(_ original: String, _ periods: [Weighed]) -> RenewalFact? {
        let mine = facts.renewals.filter { $0.original.text == original }
        func key(_ fact: RenewalFact) -> [Int64] {
            [
                fact.signedAt.milliseconds, fact.rank.rawValue, fact.isInBillingRetry ? 1 : 0,
                fact.willRenew ? 0 : 1, fact.willCommitAgain == false ? 1 : 0,
            ]
        }
        let newest = mine.max { key($0).lexicographicallyPrecedes(key($1)) }
        guard let newest,
            let place = newestPlace(periods)
        else { return newest }
        let former = place > 0 ? lead(periods[place - 1]) : 0
        let earliest = periods[place].start - max(former, lead(periods[place]))
        return newest.signedAt.milliseconds >= earliest ? newest : nil
    }
}
