/// The combined result of all readings of one purchase.
///
/// Readings are processed in chronological order, regardless of their order of arrival, so
/// the result depends only on the set of readings. Each token has separate readings. If one token
/// continues another, the older one ends when the newer one begins.
struct ReadingCourse {
    fileprivate struct Line {
        let name: TransactionID
        var continues: Set<TransactionID> = []
        var start: Instant
        var replacedAt: Instant?
        var lanes: [ReadLane] = []

        /// Whether the token ever gave the customer anything.
        var isOwned: Bool { lanes.contains { !$0.drafts.isEmpty } }
    }

    private var lines: [Line] = []
    private let original: TransactionID

    /// Creates the result of these readings, which must be in chronological order.
    init(_ readings: [TransactionFact], of original: TransactionID) {
        self.original = original
        var byToken: [TransactionID: [(TransactionFact, Reading)]] = [:]
        for fact in readings {
            guard let reading = fact.reading, reading.isKnown else { continue }
            byToken[reading.tokenName, default: []].append((fact, reading))
        }
        lines = byToken.sorted { $0.key < $1.key }.map { Self.line($0, $1) }
        for index in lines.indices { lines[index].replacedAt = replacement(of: index) }
    }

    private static func line(
        _ name: TransactionID, _ readings: [(TransactionFact, Reading)]
    ) -> Line {
        let stated = readings.compactMap { $1.startedAt }.min()
        var line = Line(name: name, start: stated ?? readings[0].0.signedAt)
        line.continues = Set(readings.compactMap { $1.continues })
        let products = Set(readings.flatMap { $1.items.map(\.product) })
        line.lanes = products.sorted().map { ReadLane($0) }
        for (place, (fact, reading)) in readings.enumerated() {
            for index in line.lanes.indices {
                let start = place == 0 ? line.start : line.entry(at: fact.signedAt)
                let isFirst = place == 0 || reading.state == .purchased
                line.lanes[index].read(fact, reading, from: isFirst ? line.start : start)
            }
        }
        return line
    }

    /// Returns when another token that continues this one replaced it. A token that this one itself continues,
    /// directly or indirectly, does not count.
    private func replacement(of index: Int) -> Instant? {
        let line = lines[index]
        return lines.filter { other in
            other.name != line.name && other.isOwned && other.continues.contains(line.name)
                && !((other.start, other.name) < (line.start, line.name)
                    && comes(line, from: other))
        }.map { max($0.start, line.start) }.min()
    }

    private func comes(_ line: Line, from other: Line) -> Bool {
        var seen: Set<TransactionID> = []
        var open = line.continues
        while let name = open.popFirst() {
            if name == other.name { return true }
            guard seen.insert(name).inserted else { continue }
            open.formUnion(lines.first { $0.name == name }?.continues ?? [])
        }
        return false
    }
}

extension ReadingCourse.Line {
    /// Returns the start of a product that is missing from the first reading: the end of the last earlier product, or
    /// else `instant`, when the product first appears in a reading.
    fileprivate func entry(at instant: Instant) -> Instant {
        lanes.compactMap { $0.drafts.last?.expires }.filter { $0 <= instant }.max() ?? instant
    }
}

// Periods.
extension ReadingCourse {
    private struct Found {
        var period: ReadPeriod
        let order: TransactionID
        let product: ProductID
        let start: Instant
        var part: Int
    }

    /// Every period, sorted by start and then by id.
    var periods: [ReadPeriod] {
        let found = joined(lines.flatMap(self.found))
        var products: [TransactionID: Set<ProductID>] = [:]
        for one in found { products[one.order, default: []].insert(one.product) }
        return found.map { one in
            var period = one.period
            let isFirst = products[one.order]?.min() == one.product
            if !isFirst || one.part > 1 {
                // Support staff look up purchases by order, and one order may cover several products.
                period.fact.lineItem = one.order.text
                period.fact.transaction = one.order.part(isFirst ? nil : one.product, one.part)
            }
            return period
        }.sorted {
            ($0.fact.purchased, $0.fact.transaction) < ($1.fact.purchased, $1.fact.transaction)
        }
    }

    private func found(in line: Line) -> [Found] {
        line.lanes.flatMap { lane -> [Found] in
            var parts: [TransactionID: Int] = [:]
            return lane.drafts.indices.map { index in
                let draft = lane.drafts[index]
                // For one-time purchases, the store may state the order only later, but every
                // answer contains the token.
                let order =
                    draft.expires == nil
                    ? TransactionID(ofToken: line.name, lane.product)
                    : draft.item.order ?? line.name
                parts[order, default: 0] += 1
                var period = ReadPeriod(
                    fact: draft.fact(of: original, order, replacedAt: line.replacedAt),
                    graceUntil: draft.graceUntil, token: line.name)
                period.replacedAt = line.replacedAt.flatMap { at in
                    draft.expires.map { at < draft.graceUntil ?? $0 } ?? true ? at : nil
                }
                if index == lane.drafts.endIndex - 1, line.replacedAt == nil {
                    period.isLast = true
                    period.renewal = lane.newest.flatMap { newest in
                        newest.fact.renewal(
                            of: newest.item, last: draft.item, graceUntil: draft.graceUntil)
                    }
                    period.renewal?.original = original
                }
                return Found(
                    period: period, order: order, product: lane.product, start: line.start,
                    part: parts[order] ?? 1)
            }
        }
    }

    /// Merges equal periods. A change that has not taken effect continues the current period under a new token.
    private func joined(_ found: [Found]) -> [Found] {
        var joined: [Found] = []
        let inOrder = found.sorted {
            ($0.start, $0.period.token, $0.part) < ($1.start, $1.period.token, $1.part)
        }
        for one in inOrder {
            guard
                let place = joined.lastIndex(where: {
                    $0.order == one.order && $0.product == one.product && $0.part == one.part
                        && $0.period.token != one.period.token
                })
            else {
                joined.append(one)
                continue
            }
            var period = one.period
            period.fact.purchased = min(period.fact.purchased, joined[place].period.fact.purchased)
            joined[place].period = period
        }
        return joined
    }
}

extension ReadLane.Draft {
    /// Returns the period in the form of a transaction fact.
    fileprivate func fact(
        of original: TransactionID, _ order: TransactionID, replacedAt: Instant?
    ) -> TransactionFact {
        var fact = told
        fact.reading = nil
        (fact.original, fact.transaction, fact.product) = (original, order, item.product)
        (fact.purchased, fact.expires, fact.offer, fact.price) = (start, expires, offer, price)
        // Support staff look up purchases by order.
        fact.lineItem = expires == nil ? item.order?.text : nil
        fact.kind = expires != nil ? .autoRenewable : item.isRented ? .nonRenewing : nil
        fact.quantity = item.quantity
        fact.refundedQuantity = item.refundable.map { max(0, item.quantity) - max(0, $0) }
            .flatMap { $0 > 0 ? $0 : nil }
        if let revokedAt {
            fact.revocation = Revocation(at: revokedAt)
            fact.revocation?.extent = .full
        }
        fact.isUpgraded = replacedAt.map { at in expires.map { at < $0 } ?? false } ?? false
        fact.commitment = item.instalments.flatMap { left in expires.flatMap(left.commitment) }
        return fact
    }
}

extension Reading.Instalments {
    /// Returns the number of the current period within the commitment.
    fileprivate func commitment(at end: Instant) -> Commitment? {
        guard payments > 0, (0...1200).contains(paymentsLeft) else { return nil }
        let periods = max(payments, paymentsLeft)
        let rest = paymentsLeft > 0 ? CalendarDuration("P\(paymentsLeft)M") : nil
        return Commitment(
            period: max(1, periods - paymentsLeft), periods: periods,
            ends: rest?.end(after: end) ?? end)
    }
}

extension TransactionFact {
    /// Returns the reading's statement about what follows the item's last period.
    fileprivate func renewal(
        of item: Reading.Item?, last: Reading.Item, graceUntil: Instant?
    ) -> RenewalFact? {
        // An item that disappeared without being removed was replaced or refunded.
        guard let reading, last.expires != nil, item != nil || last.isRemoved else { return nil }
        let goesOn = item.map { $0.isOwned && ($0.willRenew || $0.nextProduct != nil) } ?? false
        let isOver = reading.state == .expired
        var fact = RenewalFact(
            store: store, environment: environment, app: app, original: original,
            willRenew: goesOn && !isOver && reading.state != .cancelled, signedAt: signedAt,
            rank: rank)
        fact.product = item?.product
        fact.nextProduct = item?.nextProduct
        fact.isInBillingRetry = reading.state == .onHold || reading.state == .grace
        fact.isPaused = reading.state == .paused
        fact.graceUntil = graceUntil
        fact.renewsAt = fact.isPaused ? reading.resumesAt : fact.willRenew ? item?.expires : nil
        fact.priceConsent = item?.priceConsent
        fact.expirationIntent = last.isRemoved ? .cancelled : reading.intent
        fact.accountToken = accountToken
        fact.willCommitAgain = item?.instalments.flatMap { instalments in
            instalments.endsWithCommitment
                ? false : instalments.laterPayments.map { $0 > 0 }
        }
        return fact
    }
}

extension Reading {
    fileprivate var intent: ExpirationIntent? {
        switch ending {
        case .byCustomer: .cancelled
        case .bySystem: .billingError
        case .byDeveloper, .replaced: .other
        case nil: nil
        }
    }
}

extension TransactionID {
    /// Creates the id of a one-time purchase.
    package init(ofToken name: TransactionID, _ product: ProductID) {
        self.init(joining: name.text, ":\(product)")
    }

    /// Returns the id of one of several products in the same order, or of one of several periods.
    fileprivate func part(_ product: ProductID?, _ part: Int) -> TransactionID {
        let ending = (product.map { ":\($0)" } ?? "") + (part > 1 ? "#\(part)" : "")
        return TransactionID(joining: text, ending)
    }
}
