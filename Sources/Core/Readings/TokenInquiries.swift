/// Determines when to ask the store about a purchase with readings, and with which of its tokens.
///
/// Several tokens may give access at the same time, for example if two of them continue the same
/// token. Tokens may even continue each other in a circle. Deed therefore asks with every token
/// that has a last period, and stores the readings of each token separately.
extension Purchase {
    /// How long to wait before the next question if a payment is missing, if the subscription is
    /// paused, or if this release did not understand an answer. The customer may pay at any time.
    private static let longestWait: Int64 = 86_400_000

    private struct TokenInquiry {
        let token: String
        let told: Instant
        /// When access will next change; `nil` if only the store can tell.
        let next: Instant?
        /// How long the store may be silent about the token.
        let patience: Int64
        /// Whether the store had not processed a renewal yet when it gave its last answer.
        var isOverdue = false

        var at: Instant {
            isOverdue ? told.advanced(byMilliseconds: Purchase.latestNews) : next(after: told)
        }

        /// Returns when to ask again after the store repeated its last answer; `nil` if a change is overdue.
        func rest(from now: Instant) -> Instant? {
            if now < at { return at }
            if isOverdue || next.map({ $0 <= now }) ?? false { return nil }
            return next(after: now)
        }

        private func next(after instant: Instant) -> Instant {
            let silent = instant.advanced(byMilliseconds: patience)
            return next.map { min($0.advanced(byMilliseconds: Purchase.latestNews), silent) }
                ?? silent
        }
    }

    /// When the first of the purchase's tokens is due.
    var readInquiryAt: Instant? { tokenInquiries.map(\.at).min() }

    /// Returns the tokens with which to ask the store by that instant; empty if the store does not use tokens.
    package func tokens(dueAt instant: Instant) -> [String] {
        tokenInquiries.filter { $0.at <= instant }.map(\.token)
    }

    /// Returns when to ask again after an answer at `now` only repeated known facts; `nil` to ask at the next
    /// opportunity.
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

    /// Inquiries after an answer that this release does not understand. A later answer may be readable.
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

    /// Returns the inquiry that uses this token. Each product has a separate end and a separate grace period.
    private func inquiry(by name: TransactionID, about last: [ReadPeriod]) -> TokenInquiry? {
        let newest = readings.last { $0.reading?.tokenName == name && $0.reading?.isKnown == true }
        guard let newest, let token = newest.reading?.token else { return nil }
        let told = newest.signedAt
        let next = last.compactMap { $0.nextNews(after: told) }.min()
        let waits = last.contains { period in
            period.renewal.map { $0.isPaused || $0.isInBillingRetry } ?? false
        }
        let isOverdue = last.contains { $0.isOverdue(at: told) }
        if next == nil, !waits, !isOverdue { return nil }
        return TokenInquiry(
            token: token, told: told, next: next,
            patience: waits ? Purchase.longestWait : Purchase.longestSilence, isOverdue: isOverdue)
    }
}

extension ReadPeriod {
    /// When access ends, unless the store took it back.
    private var end: Instant? { fact.revocation == nil ? graceUntil ?? fact.expires : nil }

    /// Returns whether the period had ended by then although the subscription renews. The store then had not processed
    /// the renewal yet.
    fileprivate func isOverdue(at instant: Instant) -> Bool {
        guard let renewal, renewal.willRenew, !renewal.isPaused, !renewal.isInBillingRetry,
            let end
        else { return false }
        return end <= instant
    }

    /// Returns the first instant after this one at which access will change: the end of a period or of a pause.
    fileprivate func nextNews(after instant: Instant) -> Instant? {
        let resumption = renewal?.isPaused == true ? renewal?.renewsAt : nil
        return [end, resumption].compactMap(\.self).filter { instant < $0 }.min()
    }
}
