package import Core

/// A random life of one subscription as the store's own pages tell it. It knows what customers may do
/// and what the store says of it, and nothing of how Deed reads that.
///
/// - A higher product, or one of the same level and duration, begins at once; the former period is
///   flagged as upgraded. A lower one, or one of another duration, begins with the next period.
/// - A renewal may be charged up to a day before its period, and may begin a little early.
/// - A refund ends the period when it is made.
package struct StoreLife: CustomStringConvertible {
    package struct Sale {
        let transaction: TransactionID
        let product: Offered
        let start: Int64
        var end: Int64
        /// Unknown where a change that waited for the renewal began before it.
        package var isUpgrade: Bool? = false
    }

    struct Offered {
        let name: String
        let level: Int
        /// In periods of the shortest product.
        let length: Int64
    }

    /// Each product unlocks what bears its name.
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

    /// What the store said, in the order in which it did.
    package var facts: [TransactionFact] { told.sorted { $0.signedAt < $1.signedAt } }
    private var told: [TransactionFact] = []
    private var sales: [Sale] = []
    private var random: SeededGenerator
    private let month: Int64
    private var newest: TransactionFact?

    package init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        let lengths: [Int64] = [30 * day, 7 * day, day, hour, hour / 12, hour / 20]
        month = lengths[Int(random.number(0...5))]
        sell(someProduct(), at: at(0).milliseconds, signed: at(0).milliseconds)
        for _ in 0..<random.number(1...5) { goOn() }
    }

    // MARK: What is right

    /// The products that the customer may use.
    package func products(at moment: Int64) -> Set<String> {
        Set(sales.filter { $0.start <= moment && moment < $0.end }.map(\.product.name))
    }

    package var moments: [Int64] {
        sales.flatMap { [$0.start - 1, $0.start, $0.start + 1, $0.end - 1, $0.end, $0.end + 1] }
    }

    /// The sale that this tells of for the first time.
    package func sale(_ fact: TransactionFact) -> Sale? {
        guard fact == facts.first(where: { $0.transaction == fact.transaction }) else { return nil }
        return sales.first { $0.transaction == fact.transaction }
    }

    package var description: String {
        facts.map { AnyFact.transaction($0).description }.joined(separator: "\n")
    }

    // MARK: What happens

    private mutating func goOn() {
        switch random.number(0...9) {
        case 0...3: renew(as: nil)
        case 4...6: change(to: someProduct())
        case 7: change(to: someProduct(), atTheLastMoment: true)
        case 8: refund()
        default: resubscribe()
        }
    }

    private var last: Sale { sales[sales.count - 1] }

    /// How early the store may charge for the next period.
    private mutating func lead() -> Int64 {
        random.number(0...min(day, (last.end - last.start) / 10))
    }

    private mutating func someProduct() -> Offered {
        StoreLife.offered[Int(random.number(0...Int64(StoreLife.offered.count - 1)))]
    }

    private mutating func renew(as other: Offered?) {
        let former = last
        let product = other ?? former.product
        let early = lead()
        // A few begin when they are charged.
        guard random.chance(10), former.start < former.end - early else {
            sell(product, at: former.end, signed: former.end - early)
            return
        }
        sell(product, at: former.end - early, signed: former.end - early)
        guard product.name != former.product.name, early > 0 else { return }
        sales[sales.count - 1].isUpgrade = nil
        // The store is asked about the former one, and does not call it upgraded.
        restate(former.transaction, signed: former.end - early + random.number(0...early))
    }

    private mutating func change(to product: Offered, atTheLastMoment isLate: Bool = false) {
        let former = last
        if product.name == former.product.name { return renew(as: nil) }
        let isSame =
            product.level == former.product.level && product.length == former.product.length
        guard product.level > former.product.level || isSame else { return renew(as: product) }
        let length = former.end - former.start
        let moment = former.end - (isLate ? 1 + lead() : random.number(1...length - 1))
        guard moment > former.start, sales.dropLast().allSatisfy({ $0.end <= moment }) else {
            return
        }
        var charged: TransactionFact?
        if isLate, random.chance(50) {
            // The next period was paid for already, and begins no more.
            let signed = max(former.start, moment - random.number(1...max(1, length / 50)))
            if signed < moment {
                charged = fact(former.product, at: former.end, signed: signed)
                if let charged { told.append(charged) }
            }
        }
        if random.chance(30) { restate(former.transaction, signed: moment - 1) }
        sales[sales.count - 1].end = moment
        flag(former.transaction, at: moment)
        if var charged, random.chance(50) {
            charged.isUpgraded = true
            charged.revocation = Histories.refund(at: Instant(milliseconds: moment))
            charged.signedAt = Instant(milliseconds: moment + random.number(0...length))
            told.append(charged)
        }
        sell(product, at: moment, signed: moment)
        sales[sales.count - 1].isUpgrade = true
    }

    /// The flag is told, or it is not; some is told by a receipt's answer.
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
        let moment = random.number(former.start + 1...max(former.start + 1, former.end - 1))
        guard moment < former.end,
            var fact = told.last(where: { $0.transaction == former.transaction })
        else { return }
        fact.revocation = Histories.refund(at: Instant(milliseconds: moment))
        fact.signedAt = Instant(milliseconds: moment)
        told.append(fact)
        sales[sales.count - 1].end = moment
        resubscribe()
    }

    /// Bought again when nothing runs any more, perhaps something else.
    private mutating func resubscribe() {
        let start = (sales.map(\.end).max() ?? 0) + random.number(1...month)
        sell(someProduct(), at: start, signed: start)
    }

    // MARK: What is said

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
                end: start + product.length * month))
    }
}
