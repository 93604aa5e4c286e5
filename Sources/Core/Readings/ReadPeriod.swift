/// One period of one product, derived from a store's readings.
struct ReadPeriod: Hashable, Sendable {
    /// The period in the form of a transaction fact.
    var fact: TransactionFact
    /// The end of access that continues although a payment failed.
    var graceUntil: Instant?
    /// When another token replaced the period's token.
    var replacedAt: Instant?
    /// Whether this is the product's last period and has not been replaced.
    var isLast = false
    /// What the newest reading states about the renewal.
    var renewal: RenewalFact?
    /// The token under which the period was last read.
    var token: TransactionID
}

/// The consecutive periods of one product under one token.
struct ReadLane {
    /// A period under construction, while the readings are processed in turn.
    struct Draft {
        var item: Reading.Item
        var start: Instant
        /// The end of the time that has been paid for.
        var expires: Instant?
        /// Whether a reading stated the end of the paid time before any payment failed.
        var isEndKnown = false
        var graceUntil: Instant?
        var revokedAt: Instant?
        var offer: Offer?
        var price: Price?
        /// The last reading that mentioned the period.
        var told: TransactionFact

        var end: Instant? { graceUntil ?? expires }
    }

    let product: ProductID
    private(set) var drafts: [Draft] = []
    private var isOpen = false
    /// Whether the last reading without access said that the subscription had expired.
    private var isOver = false
    /// The newest reading, and the product's item in it, if any.
    private(set) var newest: (item: Reading.Item?, fact: TransactionFact)?

    init(_ product: ProductID) {
        self.product = product
    }

    /// Processes the next reading. The caller passes readings in chronological order.
    mutating func read(_ fact: TransactionFact, _ reading: Reading, from start: Instant) {
        let item = reading.item(of: product)
        if drafts.isEmpty, item?.isOwned != true { return }
        newest = (item, fact)
        switch reading.state {
        case .active, .grace, .cancelled:
            guard let item, item.isOwned else { return stop(at: nil, fact, reading, isGone: true) }
            if item.expires != nil { give(item, fact, reading, from: start) }
        case .onHold, .paused, .expired:
            if drafts.isEmpty, let item, let end = item.expires {
                // The reading shows only that the period has ended.
                let ended = min(end, fact.signedAt)
                drafts.append(draft(item, fact, from: min(start, ended)))
                drafts[0].expires = ended
            } else {
                stop(at: item?.expires, fact, reading, isGone: false)
            }
            isOver = reading.state == .expired
            isOpen = false
        case .purchased, .takenBack: own(item, fact, reading, from: start)
        case .unknown: break
        }
    }
}

// Subscriptions.
extension ReadLane {
    private mutating func give(
        _ item: Reading.Item, _ fact: TransactionFact, _ reading: Reading, from start: Instant
    ) {
        if !isOpen || drafts.last?.item.order != item.order {
            begin(item, fact, from: beginning(at: fact.signedAt, from: start))
        }
        (isOpen, isOver) = (true, false)
        let last = drafts.endIndex - 1
        drafts[last].item = item
        drafts[last].told = fact
        drafts[last].offer = item.offer ?? drafts[last].offer
        drafts[last].price = item.price ?? drafts[last].price
        let (end, paid) = (item.expires ?? fact.signedAt, drafts[last].expires)
        drafts[last].extend(to: end, reading.state, at: fact.signedAt)
        // If an item's end moved back into the past while other items continue, that item was
        // refunded.
        if let paid, end < paid, end <= fact.signedAt, reading.runs(at: fact.signedAt) {
            drafts[last].takeBack(at: end, of: paid)
        }
    }

    /// Begins a period. The payment for it ends the grace period that preceded it.
    private mutating func begin(
        _ item: Reading.Item, _ fact: TransactionFact, from start: Instant
    ) {
        if let last = drafts.indices.last, let until = drafts[last].graceUntil {
            let end = min(until, max(start, drafts[last].expires ?? start))
            drafts[last].graceUntil = end == drafts[last].expires ? nil : end
        }
        drafts.append(draft(item, fact, from: start))
    }

    /// Returns when a period begins. If both this reading and the previous one give access, the period continues from
    /// the last end. If the previous reading gave no access, the period begins when the store says that access
    /// resumed.
    private func beginning(at instant: Instant, from start: Instant) -> Instant {
        guard let last = drafts.last else { return min(start, instant) }
        guard isOpen, let end = last.expires else { return instant }
        return max(last.start, min(end, instant))
    }

    private func draft(
        _ item: Reading.Item, _ fact: TransactionFact, from start: Instant
    ) -> Draft {
        Draft(item: item, start: start, offer: item.offer, price: item.price, told: fact)
    }

    /// Records that access has ended, either at the stated time or at the time of the question.
    private mutating func stop(
        at stated: Instant?, _ fact: TransactionFact, _ reading: Reading, isGone: Bool
    ) {
        guard let last = drafts.indices.last, let end = drafts[last].end else { return }
        let stop = min(stated ?? end, fact.signedAt)
        if isOpen || isOver && reading.state == .expired && stop < end {
            // An announced change is not a refund, even if it happens slightly early.
            let item = drafts[last].item
            let isAnnounced = item.isRemoved || item.nextProduct != nil
            let isTakenBack = isGone && !isAnnounced || reading.takesBack
            drafts[last].told = fact
            drafts[last].stop(at: stop, isTakenBack: isTakenBack, isUnpaid: reading.isUnpaid)
        }
        isOpen = false
    }
}

extension ReadLane.Draft {
    fileprivate mutating func extend(
        to end: Instant, _ state: Reading.State, at instant: Instant
    ) {
        revokedAt = nil
        let isLate = state == .grace || state == .cancelled && graceUntil != nil
        guard isLate, state == .grace || end > expires ?? end else {
            (expires, graceUntil, isEndKnown) = (end, nil, true)
            return
        }
        let paid = isEndKnown ? expires ?? instant : min(instant, expires ?? instant)
        expires = max(start, min(paid, end))
        graceUntil = end
    }

    fileprivate mutating func takeBack(at instant: Instant, of paid: Instant) {
        (expires, graceUntil, revokedAt) = (paid, nil, max(start, instant))
    }

    fileprivate mutating func stop(at stop: Instant, isTakenBack: Bool, isUnpaid: Bool) {
        guard let end, let paid = expires else { return }
        if stop < end, isTakenBack, stop < paid {
            revokedAt = max(start, stop)
            graceUntil = nil
        } else if stop > paid, graceUntil != nil || isUnpaid {
            graceUntil = stop
        } else {
            expires = max(start, stop)
            graceUntil = nil
        }
    }
}

// One-time purchases.
extension ReadLane {
    private mutating func own(
        _ item: Reading.Item?, _ fact: TransactionFact, _ reading: Reading, from start: Instant
    ) {
        guard let item else {
            // As far as is known, the purchase was revoked from the start.
            if reading.state == .takenBack { takeBack(fact) }
            return
        }
        if drafts.isEmpty {
            drafts.append(draft(item, fact, from: start))
            // As far as is known, the purchase was revoked from the beginning.
            if reading.state == .takenBack { drafts[0].revokedAt = start }
        }
        let refundable = item.refundable ?? drafts[0].item.refundable
        drafts[0].item = item
        drafts[0].item.refundable = refundable
        drafts[0].told = fact
        if let released = item.releasedAt { drafts[0].start = max(start, released) }
        if reading.state == .purchased { drafts[0].revokedAt = nil } else { takeBack(fact) }
    }

    private mutating func takeBack(_ fact: TransactionFact) {
        drafts[0].told = fact
        if drafts[0].revokedAt == nil {
            drafts[0].revokedAt = max(drafts[0].start, fact.signedAt)
        }
    }
}

extension Reading {
    /// Returns the reading's statement about a product. A reading may list a product several times: in two base
    /// plans, one of which will be owned only later, or in two purchase options.
    fileprivate func item(of product: ProductID) -> Item? {
        let all = items.filter { $0.product == product }
        guard all.count > 1 else { return all.first }
        let owned = all.filter(\.isOwned)
        guard var item = (owned.isEmpty ? all : owned).max(by: { $0.end < $1.end }) else {
            return nil
        }
        if item.expires == nil {
            item.quantity = all.map(\.quantity).sum
            let left = all.compactMap(\.refundable)
            item.refundable = left.count == all.count ? left.sum : nil
        }
        return item
    }

    /// Returns whether any item gives access at that instant.
    fileprivate func runs(at instant: Instant) -> Bool {
        items.contains { $0.isOwned && $0.expires.map { instant < $0 } ?? false }
    }

    /// Whether an early end of the paid time means a refund.
    fileprivate var takesBack: Bool {
        if state != .expired || ending == .replaced { return false }
        // The store itself revokes a purchase that is not acknowledged.
        return ending != .bySystem || !isAcknowledged
    }

    /// Whether access was given beyond the paid time although a payment failed.
    fileprivate var isUnpaid: Bool {
        state == .onHold || state == .expired && ending == .bySystem
    }
}

extension Reading.Item {
    fileprivate var end: Instant { expires ?? .distantPast }
}

extension [Int64] {
    fileprivate var sum: Int64 {
        reduce(0) { sum, next in
            let (whole, overflow) = sum.addingReportingOverflow(next)
            return overflow ? .max : whole
        }
    }
}
