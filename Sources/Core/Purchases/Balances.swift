/// The consumable currencies of one customer, and what each transaction did to them.
package struct Balances: Hashable, Sendable {
    /// The largest amount of one movement, and the largest balance that an admin may set: every
    /// JSON reader represents it exactly.
    package static let limit: Int64 = (1 << 53) - 1

    // Wider than any sum of amounts, so that no order of movements overflows.
    private var totals: [CurrencyID: Int128] = [:]
    private(set) var credits: [Credit.Key: Credit] = [:]
    /// What back ends added on the last day with such an addition.
    private var earnings: [CurrencyID: Earning] = [:]

    private struct Earning: Hashable, Sendable {
        var day: Int64
        var amount: Int64
    }

    init() {}

    /// Every currency that ever moved, in order.
    package var currencies: [CurrencyID] { totals.keys.sorted() }

    /// The customer's balance; negative if a refund came after the spending.
    package subscript(currency: CurrencyID) -> Int64 {
        Int64(clamping: total(of: currency))
    }

    /// Whether the balance ever changed.
    package func moved(_ currency: CurrencyID) -> Bool { totals[currency] != nil }

    func total(of currency: CurrencyID) -> Int128 { totals[currency, default: 0] }

    /// What a transaction did to that balance, if anything.
    package func credit(_ key: Credit.Key) -> Credit? { credits[key] }

    func hasCredits(of purchase: PurchaseID) -> Bool {
        credits.keys.contains { $0.purchase == purchase }
    }

    /// The purchases with a credit.
    var creditedPurchases: Set<PurchaseID> { Set(credits.keys.lazy.map(\.purchase)) }

    mutating func apply(_ event: BalanceCredited) {
        add(Int128(event.amount), to: event.currency)
        let key = Credit.Key(event.purchase, event.transaction, event.currency)
        credits[key, default: Credit(perPiece: event.perPiece)].net += event.amount
    }

    mutating func apply(_ event: BalanceDebited) {
        add(-Int128(event.amount), to: event.currency)
        credits[Credit.Key(event.purchase, event.transaction, event.currency)]?.net -= event.amount
    }

    mutating func apply(_ event: BalanceAdjusted) {
        add(Int128(event.amount), to: event.currency)
        guard let day = event.earnedAt?.day else { return }
        var earning = earnings[event.currency] ?? Earning(day: day, amount: 0)
        if earning.day < day { earning = Earning(day: day, amount: 0) }
        earning.amount += event.amount
        earnings[event.currency] = earning
    }

    /// What back ends added on the day of that instant. A clock that runs backwards starts no new day.
    func earned(of currency: CurrencyID, at instant: Instant) -> Int64 {
        guard let earning = earnings[currency], earning.day >= instant.day else { return 0 }
        return earning.amount
    }

    mutating func add(_ amount: Int128, to currency: CurrencyID) {
        totals[currency, default: 0] += amount
    }
}

/// What one consumable transaction added to one balance, minus refunds.
package struct Credit: Hashable, Sendable {
    package struct Key: Hashable, Sendable {
        package let purchase: PurchaseID
        package let transaction: TransactionID
        package let currency: CurrencyID

        package init(
            _ purchase: PurchaseID, _ transaction: TransactionID, _ currency: CurrencyID
        ) {
            self.purchase = purchase
            self.transaction = transaction
            self.currency = currency
        }
    }
    /// What one piece adds by the catalog in effect at its first credit.
    package let perPiece: Int64
    /// From 0 to the limit of a movement.
    package internal(set) var net: Int64 = 0
}

extension Instant {
    /// The day in UTC, counted from 1 January 1970.
    fileprivate var day: Int64 {
        let perDay = CivilDate.millisecondsPerDay
        return (milliseconds - (milliseconds % perDay + perDay) % perDay) / perDay
    }
}
