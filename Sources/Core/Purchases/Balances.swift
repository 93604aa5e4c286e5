/// A customer's balances in the consumable currencies, and the effect of each transaction on them.
package struct Balances: Hashable, Sendable {
    /// The largest amount of one movement, and the largest balance that an admin may set. Every
    /// JSON reader can represent it exactly.
    package static let limit: Int64 = (1 << 53) - 1

    // 128 bits are wider than any sum of amounts, so that movements cannot overflow in any order.
    package private(set) var totals: [CurrencyID: Int128] = [:]
    package private(set) var credits: [Credit.Key: Credit] = [:]
    /// The amounts that back ends added on the most recent day on which they added any.
    package private(set) var earnings: [CurrencyID: Coins.Earning] = [:]

    package init() {}

    package init(
        totals: [CurrencyID: Int128], credits: [Credit.Key: Credit],
        earnings: [CurrencyID: Coins.Earning]
    ) {
        (self.totals, self.credits, self.earnings) = (totals, credits, earnings)
    }

    /// Every currency in which the balance has ever changed, sorted.
    package var currencies: [CurrencyID] { totals.keys.sorted() }

    /// The customer's balance. It is negative if a refund came after the coins had been spent.
    package subscript(currency: CurrencyID) -> Int64 {
        Int64(clamping: total(of: currency))
    }

    /// Returns whether the balance has ever changed.
    package func moved(_ currency: CurrencyID) -> Bool { totals[currency] != nil }

    /// Returns the balance before it is limited to 64 bits.
    package func total(of currency: CurrencyID) -> Int128 { totals[currency, default: 0] }

    /// Returns the transaction's effect on one balance, if any.
    package func credit(_ key: Credit.Key) -> Credit? { credits[key] }

    func hasCredits(of purchase: PurchaseID) -> Bool {
        credits.keys.contains { $0.purchase == purchase }
    }

    /// The purchases that have credited a balance.
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
        var earning = earnings[event.currency] ?? Coins.Earning(day: day, amount: 0)
        if earning.day < day { earning = Coins.Earning(day: day, amount: 0) }
        earning.amount += event.amount
        earnings[event.currency] = earning
    }

    /// Returns the amount that back ends added on the day of that instant. If the clock runs backwards, no new day
    /// starts.
    func earned(of currency: CurrencyID, at instant: Instant) -> Int64 {
        guard let earning = earnings[currency], earning.day >= instant.day else { return 0 }
        return earning.amount
    }

    mutating func add(_ amount: Int128, to currency: CurrencyID) {
        totals[currency, default: 0] += amount
    }
}

/// Coins that move from one customer's balances to another's.
package struct Coins: Hashable, Sendable {
    package var amounts: [CurrencyID: Int64] = [:]
    package var credits: [Credit.Key: Credit] = [:]
    /// The amounts that back ends added on a day. These amounts move along with the coins, because the daily limit
    /// applies to a person.
    package var earnings: [CurrencyID: Earning] = [:]

    package struct Earning: Hashable, Sendable {
        package var day: Int64
        package var amount: Int64

        package init(day: Int64, amount: Int64) {
            self.day = day
            self.amount = amount
        }
    }

    package init() {}
}

extension Balances {
    var coins: Coins {
        var coins = Coins()
        coins.amounts = totals.mapValues { Int64(clamping: $0) }
        (coins.credits, coins.earnings) = (credits, earnings)
        return coins
    }

    /// Adds the coins that come from another customer.
    mutating func take(_ coins: Coins) {
        for (currency, amount) in coins.amounts { add(Int128(amount), to: currency) }
        credits.merge(coins.credits) { own, _ in own }
        for (currency, earning) in coins.earnings {
            guard let own = earnings[currency], own.day >= earning.day else {
                earnings[currency] = earning
                continue
            }
            if own.day == earning.day { earnings[currency]?.amount += earning.amount }
        }
    }

    /// Subtracts the coins that go to another customer. Amounts that back ends added today still
    /// count towards this customer's limit.
    mutating func give(_ amounts: [CurrencyID: Int64], creditedBy purchases: Set<PurchaseID>) {
        for (currency, amount) in amounts { add(-Int128(amount), to: currency) }
        credits = credits.filter { !purchases.contains($0.key.purchase) }
    }

    /// Empties all balances. Amounts that back ends added today count towards the other customer's
    /// limit.
    mutating func empty() { (totals, credits, earnings) = ([:], [:], [:]) }
}

/// The amount that one consumable transaction added to one balance, less refunds.
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
    /// The amount that each unit adds according to the catalog in effect at the first credit.
    package let perPiece: Int64
    /// A value between 0 and the limit for one movement.
    package internal(set) var net: Int64 = 0

    package init(perPiece: Int64, net: Int64 = 0) {
        self.perPiece = perPiece
        self.net = net
    }
}

extension Instant {
    /// The UTC day, counted from 1 January 1970.
    fileprivate var day: Int64 {
        let perDay = CivilDate.millisecondsPerDay
        return (milliseconds - (milliseconds % perDay + perDay) % perDay) / perDay
    }
}
