package import Core

/// A random life of one subscription, as the store's own pages describe it. It knows what customers may do
/// and what the store says about it, and nothing of how Deed reads that.
///
/// - A higher product, or one of the same level and duration, begins at once; the former period is
///   flagged as upgraded. A lower one, or one of another duration, begins with the next period.
/// - A renewal may be charged up to a day before its period, and may begin a little early; in the sandbox,
///   where a month or a week lasts minutes, a day is as much shorter.
/// - A change that waits for the renewal is announced in the renewal info.
/// - A payment that fails may leave a grace of 3, 16 or 28 days, of a week at most 6; it is tried again for 60
///   days. In the sandbox a grace is as long as a period, and the retry twice that.
/// - A refund ends the period when it is made.
package struct StoreLife: CustomStringConvertible {
    package struct Sale {
        let transaction: TransactionID
        let product: Offered
        let start: Int64
        var end: Int64
        /// When the period was paid for: before it began, or during the grace period before it.
        let paidAt: Int64
        /// Whether this is an upgrade; `nil` if a change at the renewal began early and the store
        /// did not announce it.
        package var isUpgrade: Bool? = false
    }

    struct Offered {
        let name: String
        let level: Int
        /// The length, counted in periods of the shortest product.
        let length: Int64
    }

    /// The products on sale. Each unlocks an entitlement with the same name.
    private static let offered = [
        Offered(name: "basic", level: 1, length: 1),
        Offered(name: "basic.long", level: 1, length: 12),
        Offered(name: "plus", level: 2, length: 1), Offered(name: "duo", level: 2, length: 1),
        Offered(name: "plus.long", level: 2, length: 12), Offered(name: "pro", level: 3, length: 1),
    ]

    package static let catalog = Histories.catalog(
        offered.map {
            product($0.name, .autoRenewable(group: "membership", level: Int64($0.level)), [$0.name])
        })

    /// The store's statements, in order.
    package var facts: [AnyFact] {
        (told.map { ($0.signedAt, AnyFact.transaction($0)) }
            + words.map { ($0.signedAt, AnyFact.renewal($0)) })
            .sorted { $0.0 < $1.0 }.map(\.1)
    }
    private var told: [TransactionFact] = []
    private var words: [RenewalFact] = []
    private var sales: [Sale] = []
    private var graces: [(product: String, start: Int64, end: Int64)] = []
    /// The product whose payment is being retried, and when its access ended.
    package private(set) var unpaid: (product: String, since: Int64)?
    private var random: SeededGenerator
    private let month: Int64
    /// The length of a day, shortened in proportion to this life's month.
    private let shortDay: Int64

    package init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        // The lengths in production, in TestFlight, and at several paces of the sandbox.
        let lengths = [
            (30 * day, day), (7 * day, day), (day, day / 30), (hour, hour / 30),
            (hour / 12, hour / 360), (hour / 20, hour / 140),
        ]
        (month, shortDay) = lengths[Int(random.number(0...5))]
        sell(someProduct(), at: at(0).milliseconds, signed: at(0).milliseconds)
        for _ in 0..<random.number(1...5) where unpaid == nil { goOn() }
    }

    // MARK: The truth

    /// Returns the products that the customer may use, and whether only a grace period gives access.
    package func products(at moment: Int64) -> [String: Bool] {
        let paid = sales.filter { $0.start <= moment && moment < $0.end }.map(\.product.name)
        let given = graces.filter { $0.start <= moment && moment < $0.end }.map(\.product)
        return Dictionary((given + paid).map { ($0, !paid.contains($0)) }) { first, _ in first }
    }

    package var moments: [Int64] {
        let bounds = sales.flatMap { [$0.start, $0.end] } + graces.flatMap { [$0.start, $0.end] }
        return bounds.flatMap { [$0 - 1, $0, $0 + 1] }
    }

    /// Returns the sale that this fact reports first.
    package func sale(_ fact: AnyFact) -> Sale? {
        guard case .transaction(let one) = fact, fact == facts.first(where: { $0.tells(of: one) })
        else { return nil }
        return sales.first { $0.transaction == one.transaction }
    }

    package var description: String { facts.map(\.description).joined(separator: "\n") }

    // MARK: What happens

    private mutating func goOn() {
        switch random.number(0...11) {
        case 0...3: renew(as: nil)
        case 4...6: change(to: someProduct())
        case 7: change(to: someProduct(), atTheLastMoment: true)
        case 8: refund()
        case 9...10: failToPay()
        default: resubscribe()
        }
    }

    private var last: Sale { sales[sales.count - 1] }

    /// The earliest moment for a change to the newest period.
    private var opening: Int64 { max(last.start, last.paidAt) }

    /// Returns how early the store charges for the next period.
    private mutating func lead() -> Int64 {
        random.number(0...min(shortDay, (last.end - last.start) / 2))
    }

    private mutating func someProduct() -> Offered {
        StoreLife.offered[Int(random.number(0...Int64(StoreLife.offered.count - 1)))]
    }

    private mutating func renew(as other: Offered?) {
        let former = last
        let product = other ?? former.product
        let early = lead()
        let isAnnounced = product.name != former.product.name && random.chance(60)
        // A few renewals begin at the moment of payment.
        guard random.chance(20), opening < former.end - early else {
            if isAnnounced { announce(product, before: former.end) }
            sell(product, at: former.end, signed: max(opening, former.end - early))
            return
        }
        if isAnnounced { announce(product, before: former.end - early) }
        sell(product, at: former.end - early, signed: former.end - early)
        guard product.name != former.product.name, early > 0 else { return }
        if !isAnnounced { sales[sales.count - 1].isUpgrade = nil }
        // The store's answer about the former period does not call it upgraded. Without that answer
        // or an announcement, this change would look like an immediate one.
        if !isAnnounced || random.chance(50) {
            restate(former.transaction, signed: former.end - early + random.number(0...early))
        }
    }

    /// Announces the product for the next renewal.
    private mutating func announce(_ next: Offered, before moment: Int64) {
        let former = last
        if opening >= moment { return }
        say(at: random.number(opening...moment - 1), of: former.product) {
            $0.nextProduct = id(next.name)
        }
    }

    private mutating func say(
        at moment: Int64, of product: Offered, _ change: (inout RenewalFact) -> Void
    ) {
        words.append(
            renewal(of: "t1", signed: Instant(milliseconds: moment)) {
                $0.product = id(product.name)
                $0.nextProduct = $0.product
                change(&$0)
            })
    }

    /// Makes the renewal's payment fail. The store may give a grace period, and it retries the
    /// payment. Some payments succeed in the end.
    private mutating func failToPay() {
        let former = last
        let (grace, retry) = (someGrace(), month < 7 * day ? 2 * month : 60 * day)
        let until = Instant(milliseconds: former.end + grace)
        say(at: max(opening, former.end - lead()), of: former.product) {
            $0.isInBillingRetry = true
            $0.graceUntil = grace > 0 ? until : nil
        }
        let (outcome, moment) = (random.number(0...3), former.end + random.number(1...retry))
        var graceEnd = former.end + grace
        if grace > 0, outcome < 2 || moment >= graceEnd, random.chance(50) {
            say(at: graceEnd, of: former.product) { $0.isInBillingRetry = true }
        }
        switch outcome {
        case 0:
            // The store retries the payment for the rest of this life.
            unpaid = (former.product.name, graceEnd)
        case 1:
            say(at: former.end + retry, of: former.product) {
                ($0.willRenew, $0.expirationIntent) = (false, .billingError)
            }
            resubscribe(after: former.end + retry)
        case 2 where moment < graceEnd:
            // If the payment succeeds during the grace period, the new period begins at the old one's end.
            sell(former.product, at: former.end, signed: moment)
            graceEnd = former.end
        default:
            sell(former.product, at: moment, signed: moment)
            graceEnd = min(graceEnd, moment)
        }
        graces.append((former.product.name, former.end, graceEnd))
    }

    private mutating func someGrace() -> Int64 {
        if random.chance(40) { return 0 }
        if month < 7 * day { return month }
        let days: Int64 = [3, 16, 28][Int(random.number(0...2))]
        return month == 7 * day ? min(days, 6) * day : days * day
    }

    private mutating func change(to product: Offered, atTheLastMoment isLate: Bool = false) {
        let former = last
        if product.name == former.product.name { return renew(as: nil) }
        let isSame =
            product.level == former.product.level && product.length == former.product.length
        guard product.level > former.product.level || isSame else { return renew(as: product) }
        let length = former.end - former.start
        let moment = former.end - (isLate ? 1 + lead() : random.number(1...length - 1))
        guard moment > opening, sales.dropLast().allSatisfy({ $0.end <= moment }) else {
            return
        }
        var charged: TransactionFact?
        if isLate, random.chance(50) {
            // The next period was already paid for, but it never begins.
            let signed = max(opening, moment - random.number(1...max(1, length / 50)))
            if signed < moment {
                charged = fact(former.product, at: former.end, signed: signed)
                if let charged { told.append(charged) }
            }
        }
        if random.chance(30) { restate(former.transaction, signed: moment - 1) }
        // Before this change, the customer chose a lower product for the renewal.
        if former.product.level > 1, random.chance(20) {
            announce(StoreLife.offered[0], before: moment)
        }
        sales[sales.count - 1].end = moment
        flag(former.transaction, at: moment)
        if var charged, random.chance(50) {
            // The store signs it again, usually with the flag and the refund.
            charged.isUpgraded = random.chance(70)
            if random.chance(50) {
                charged.revocation = Histories.refund(at: Instant(milliseconds: moment))
            }
            charged.signedAt = Instant(milliseconds: moment + random.number(0...length))
            told.append(charged)
        }
        sell(product, at: moment, signed: moment)
        sales[sales.count - 1].isUpgrade = true
    }

    /// Reports the upgrade's flag or not, sometimes in a receipt's reply.
    private mutating func flag(_ transaction: TransactionID, at moment: Int64) {
        guard random.chance(50), var fact = told.last(where: { $0.transaction == transaction })
        else { return }
        fact.isUpgraded = true
        fact.signedAt = Instant(milliseconds: moment + random.number(0...month))
        fact.rank = random.chance(30) ? .verifyReceiptReply : .serverAPI
        told.append(fact)
    }

    private mutating func restate(_ transaction: TransactionID, signed: Int64) {
        guard var fact = told.last(where: { $0.transaction == transaction }) else { return }
        fact.signedAt = max(fact.signedAt, Instant(milliseconds: signed))
        fact.rank = .serverAPI
        told.append(fact)
    }

    private mutating func refund() {
        let former = last
        let moment = random.number(opening + 1...max(opening + 1, former.end - 1))
        guard moment < former.end,
            var fact = told.last(where: { $0.transaction == former.transaction })
        else { return }
        fact.revocation = Histories.refund(at: Instant(milliseconds: moment))
        fact.signedAt = Instant(milliseconds: moment)
        told.append(fact)
        sales[sales.count - 1].end = moment
        resubscribe()
    }

    /// Buys a product again after everything has ended.
    private mutating func resubscribe(after moment: Int64 = 0) {
        let start = max(moment, sales.map(\.end).max() ?? 0) + random.number(1...month)
        sell(someProduct(), at: start, signed: start)
    }

    // MARK: The statements

    private mutating func fact(_ product: Offered, at start: Int64, signed: Int64)
        -> TransactionFact
    {
        let number = Set(told.map(\.transaction)).count + 1
        return transaction(
            "t\(number)", of: "t1", product.name, .autoRenewable, Instant(milliseconds: start),
            to: Instant(milliseconds: start + product.length * month),
            signed: Instant(milliseconds: signed))
    }

    private mutating func sell(_ product: Offered, at start: Int64, signed: Int64) {
        var sold = fact(product, at: start, signed: signed)
        if random.chance(20) { (sold.rank, sold.kind) = (.offlineReceipt, nil) }
        told.append(sold)
        sales.append(
            Sale(
                transaction: sold.transaction, product: product, start: start,
                end: start + product.length * month, paidAt: signed))
    }
}

extension AnyFact {
    fileprivate func tells(of other: TransactionFact) -> Bool {
        if case .transaction(let one) = self { one.transaction == other.transaction } else { false }
    }
}
