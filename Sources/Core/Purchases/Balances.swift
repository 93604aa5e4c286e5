/// The consumable currencies of one customer, and what each transaction did to them.
package struct Balances: Hashable, Sendable {
    /// The largest amount of one movement, and the largest balance that an admin may make: every
    /// JSON reader keeps it exact.
    package static let limit: Int64 = (1 << 53) - 1

    // Wider than any sum of amounts, so that no order of movements can overflow.
    private var totals: [CurrencyID: Int128] = [:]
    private(set) var credits: [Credit.Key: Credit] = [:]

    init() {}

    /// Every currency that ever moved, in order.
    package var currencies: [CurrencyID] { totals.keys.sorted() }

    /// What the customer has of it; below zero when a refund came after the spending.
    package subscript(currency: CurrencyID) -> Int64 {
        Int64(clamping: total(of: currency))
    }

    func total(of currency: CurrencyID) -> Int128 { totals[currency, default: 0] }

    /// What a transaction did to that balance, if it did anything.
    package func credit(_ key: Credit.Key) -> Credit? { credits[key] }

    func hasCredits(of purchase: PurchaseID) -> Bool {
        credits.keys.contains { $0.purchase == purchase }
    }

    mutating func apply(_ event: BalanceCredited) {
        add(Int128(event.amount), to: event.currency)
        let key = Credit.Key(event.purchase, event.transaction, event.currency)
        credits[key, default: Credit(perPiece: event.perPiece)].net += event.amount
    }

    mutating func apply(_ event: BalanceDebited) {
        add(-Int128(event.amount), to: event.currency)
        credits[Credit.Key(event.purchase, event.transaction, event.currency)]?.net -= event.amount
    }

    mutating func add(_ amount: Int128, to currency: CurrencyID) {
        totals[currency, default: 0] += amount
    }
}

/// What one consumable transaction brought to one balance, refunds taken off.
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
    /// What one piece brings by the catalog of when it was first credited.
    package let perPiece: Int64
    /// From 0 to the limit of a movement.
    package internal(set) var net: Int64 = 0
}
