/// When to ask the store about a purchase that its readings tell of, and by which of its tokens.
///
/// Several may give access at the same time, as where two continue the same one, and in a circle each is continued by
/// another: so the store is asked by those with a last period, and each has readings of its own.
extension Purchase {
    /// How long to leave alone what waits for a payment or the end of a pause, and what was not understood: a customer
    /// may pay at any time.
    private static let longestWait: Int64 = 86_400_000

    private struct TokenInquiry {
        let token: String
        let told: Instant
        /// When something is to happen next to what it gives; `nil` if only the store can tell.
        let next: Instant?
        /// How long the store may be silent about it.
        let patience: Int64

        var at: Instant { next(after: told) }

        /// Until when to leave it alone after the store repeated itself; `nil` if something is overdue.
        func rest(from now: Instant) -> Instant? {
            if now < at { return at }
            if let next, next <= now { return nil }
            return next(after: now)
        }

        private func next(after instant: Instant) -> Instant {
            let silent = instant.advanced(byMilliseconds: patience)
            return next.map { min($0.advanced(byMilliseconds: Purchase.latestNews), silent) }
                ?? silent
        }
    }

    /// When to ask by the first of its tokens.
    var readInquiryAt: Instant? { tokenInquiries.map(\.at).min() }

    /// The tokens by which the store is to be asked by that instant; none for a store that knows no tokens.
    package func tokens(dueAt instant: Instant) -> [String] {
        tokenInquiries.filter { $0.at <= instant }.map(\.token)
    }

    /// Until when to leave it alone after the store said then what was known; `nil` if it is to be asked about at the
    /// next occasion.
    package func rest(from now: Instant) -> Instant? {
        let rests = tokenInquiries.map { $0.rest(from: now) }
        return rests.contains(nil) ? nil : rests.compactMap(\.self).min()
    }

    private var tokenInquiries: [TokenInquiry] {
        if periods.isEmpty { return unreadInquiries }
        let last = periods.filter(\.isLast)
        return Set(last.map(\.token)).sorted().compactMap { name in
            inquiry(by: name, about: last.filter { $0.token == name })
        }
    }

    /// A later answer may be in words that are known.
    private var unreadInquiries: [TokenInquiry] {
        guard let last = readings.last, let reading = last.reading, !reading.isKnown else {
            return []
        }
        return [
            TokenInquiry(
                token: reading.token, told: last.signedAt, next: nil,
                patience: Purchase.longestWait)
        ]
    }

    /// Each product has an end of its own, and so has a grace.
    private func inquiry(by name: TransactionID, about last: [ReadPeriod]) -> TokenInquiry? {
        let newest = readings.last { $0.reading?.tokenName == name && $0.reading?.isKnown == true }
        guard let newest, let token = newest.reading?.token else { return nil }
        let told = newest.signedAt
        let next = last.compactMap { $0.nextNews(after: told) }.min()
        let waits = last.contains { period in
            period.renewal.map { $0.isPaused || $0.isInBillingRetry } ?? false
        }
        if next == nil, !waits { return nil }
        return TokenInquiry(
            token: token, told: told, next: next,
            patience: waits ? Purchase.longestWait : Purchase.longestSilence)
    }
}

extension ReadPeriod {
    /// When something is to happen next to what it gives, after that instant: an end, or the end of a pause.
    fileprivate func nextNews(after instant: Instant) -> Instant? {
        let end = fact.revocation == nil ? graceUntil ?? fact.expires : nil
        let resumption = renewal?.isPaused == true ? renewal?.renewsAt : nil
        return [end, resumption].compactMap(\.self).filter { instant < $0 }.min()
    }
}
