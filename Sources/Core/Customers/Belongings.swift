/// Everything that a customer has, apart from purchases. A merge moves all of it.
package struct Belongings: Hashable, Sendable {
    package var grants: [Grant] = []
    package var orders: [Order] = []
    /// The tokens that do not belong to any order.
    package var tokens: [AccountToken] = []
    package var coins = Coins()
    package var apps: [AppFact] = []
    /// The store accounts that were used to install apps.
    package var accounts: [AppTransactionID] = []
    package var consents: [ConsentFact] = []

    package init() {}

    /// The maximum weight of the belongings in one event.
    static let limit = 1000

    /// The approximate size in kilobytes. A grant or an order may have a long reason. Four credits
    /// take as much space as one grant or order.
    var weight: Int { grants.count + orders.count + coins.credits.count / 4 }

    package var names: BelongingNames {
        BelongingNames(
            grants: grants.map(\.id), orders: orders.map(\.id),
            tokens: tokens + orders.map(\.opened.token), balances: coins.amounts)
    }

    /// All tokens that assign purchases to the customer, including those of orders.
    package var allTokens: [AccountToken] { tokens + orders.map(\.opened.token) }
}

/// The names of the belongings, as recorded in the stream that they left.
package struct BelongingNames: Hashable, Sendable {
    package let grants: [GrantID]
    package let orders: [OrderID]
    /// The tokens, including those of orders.
    package let tokens: [AccountToken]
    package let balances: [CurrencyID: Int64]
    /// Withdrawals of consent that left together with the other belongings. Set only when a merge is undone.
    package internal(set) var consents: [NewsID]

    package init(
        grants: [GrantID] = [], orders: [OrderID] = [], tokens: [AccountToken] = [],
        balances: [CurrencyID: Int64] = [:], consents: [NewsID] = []
    ) {
        self.grants = grants
        self.orders = orders
        self.tokens = tokens
        self.balances = balances
        self.consents = consents
    }
}

/// A customer who was merged into this one, with the belongings from the merge that this customer still has.
package struct JoinedCustomer: Hashable, Sendable {
    package let customer: CustomerID
    /// Customers who had previously been merged into that customer.
    package let others: [CustomerID]
    package let at: Instant
    package private(set) var purchases: Set<PurchaseID> = []
    package let grants: Set<GrantID>
    package let orders: Set<OrderID>
    package let tokens: Set<AccountToken>
    package let apps: [AppFact]
    package let accounts: [AppTransactionID]
    package let consents: [ConsentFact]
    /// The part of each balance that came from that customer, and how much of it has been used since.
    package private(set) var coins: [CurrencyID: Share]

    package struct Share: Hashable, Sendable {
        package private(set) var amount: Int128
        /// The part that does not come from purchases.
        package var base: Int128
        /// How much of the amount has been spent or taken since.
        package fileprivate(set) var gone: Int128
        /// The number of coins that were refunded after they had been spent. No undo returns these coins.
        package fileprivate(set) var owed: Int128

        package init(amount: Int128, base: Int128, gone: Int128 = 0, owed: Int128 = 0) {
            (self.amount, self.base, self.gone, self.owed) = (amount, base, gone, owed)
        }

        /// The part that has not been used.
        fileprivate var left: Int128 { max(0, amount - gone) }

        /// Changes the amount. A refund of coins that are gone makes them owed, and the reversal
        /// of the refund makes them gone again.
        fileprivate mutating func settle(_ change: Int128) {
            amount += change
            let reversed = max(0, min(change, owed))
            (gone, owed) = (gone + reversed, owed - reversed)
            let refunded = max(0, gone - max(0, amount))
            (gone, owed) = (gone - refunded, owed + refunded)
        }
    }

    /// Creates the record of a merge. Belongings that are also in this customer's own lists are given by name. All
    /// others are given in full.
    package init(
        _ customer: CustomerID, with others: [CustomerID], at instant: Instant,
        names: BelongingNames, purchases: Set<PurchaseID>, _ rest: Belongings,
        coins: [CurrencyID: Share]
    ) {
        (self.customer, self.others, at) = (customer, others, instant)
        (grants, orders) = (Set(names.grants), Set(names.orders))
        tokens = Set(names.tokens)
        self.purchases = purchases
        (apps, accounts, consents) = (rest.apps, rest.accounts, rest.consents)
        self.coins = coins
    }

    init(_ joined: CustomerJoined) {
        customer = joined.from
        others = joined.others
        at = joined.act.at
        let came = joined.belongings
        grants = Set(came.grants.map(\.id))
        orders = Set(came.orders.map(\.id))
        tokens = Set(came.tokens)
        (apps, accounts, consents) = (came.apps, came.accounts, came.consents)
        coins = came.coins.amounts.mapValues { Share(amount: Int128($0), base: Int128($0)) }
        for (key, credit) in came.coins.credits {
            coins[key.currency]?.base -= Int128(credit.net)
        }
    }

    /// Returns the part of each balance that belongs to that customer, based on the current worth of the purchases.
    func amounts(among credits: [Credit.Key: Credit]) -> [CurrencyID: Int128] {
        var amounts = coins.mapValues(\.base)
        for (key, credit) in credits where purchases.contains(key.purchase) {
            amounts[key.currency, default: 0] += Int128(credit.net)
        }
        return amounts
    }

    /// All customers who would be erased together with this one.
    package var all: [CustomerID] { [customer] + others }

    mutating func bring(_ purchase: PurchaseID) { purchases.insert(purchase) }

    mutating func lose(_ purchase: PurchaseID) { purchases.remove(purchase) }

    /// Adds coins from a purchase, or subtracts the coins that its refund took.
    mutating func settle(_ amount: Int128, _ currency: CurrencyID, by purchase: PurchaseID) {
        if purchases.contains(purchase) {
            coins[currency, default: Share(amount: 0, base: 0)].settle(amount)
        }
    }

    /// Updates the amounts to the current worth of the purchases, as given by these credits.
    mutating func recount(by credits: [Credit.Key: Credit]) {
        for (currency, amount) in amounts(among: credits) {
            var share = coins[currency] ?? Share(amount: 0, base: 0)
            share.settle(amount - share.amount)
            coins[currency] = share
        }
    }

    /// Returns the unused part of the balance that came with that customer.
    func left(of currency: CurrencyID) -> Int128 { coins[currency]?.left ?? 0 }

    /// Returns the used part of the balance that came with that customer.
    func missing(of currency: CurrencyID) -> Int128 { coins[currency]?.gone ?? 0 }

    /// Spends up to the amount that is left, and returns the remainder.
    mutating func spend(_ amount: Int128, _ currency: CurrencyID) -> Int128 {
        let taken = min(max(0, amount), left(of: currency))
        if taken > 0 { coins[currency]?.gone += taken }
        return amount - taken
    }

    /// Makes up for gone or owed coins, and returns the remainder.
    mutating func makeUp(
        _ amount: Int128, _ currency: CurrencyID, _ kind: WritableKeyPath<Share, Int128>
    ) -> Int128 {
        let given = min(amount, coins[currency]?[keyPath: kind] ?? 0)
        coins[currency]?[keyPath: kind] -= given
        return amount - given
    }
}

/// Keeps track of whose coins have been used. Coins are interchangeable, so the customer's own are
/// spent first, followed by those of the customer who was merged last.
extension [JoinedCustomer] {
    /// Records that coins were spent or taken. `own` of them were the customer's own.
    mutating func spend(_ amount: Int128, _ currency: CurrencyID, own: Int128) {
        var rest = amount - Swift.max(0, own)
        for place in indices.reversed() where rest > 0 {
            rest = self[place].spend(rest, currency)
        }
    }

    /// Records that an admin gave coins. They first replace coins that are gone, then owed coins.
    mutating func makeUp(_ amount: Int128, _ currency: CurrencyID) {
        var rest = amount
        for kind in [\JoinedCustomer.Share.gone, \.owed] {
            for place in indices where rest > 0 {
                rest = self[place].makeUp(rest, currency, kind)
            }
        }
    }

    /// Returns how many coins are missing to undo the merge of the customer at `place`. These are the used coins that
    /// cannot be attributed to a customer who was merged earlier.
    func lack(of currency: CurrencyID, at place: Int) -> Int128 {
        let spare = self[..<place].reduce(Int128(0)) { $0 + $1.left(of: currency) }
        return Swift.max(0, self[place].missing(of: currency) - spare)
    }

    /// Removes the customer at `place`, who gets back all the coins that came with the merge. Used
    /// coins are attributed to customers who were merged earlier.
    mutating func part(at place: Int) -> JoinedCustomer {
        let one = self[place]
        for currency in one.coins.keys {
            var rest = one.missing(of: currency)
            for earlier in (0..<place).reversed() where rest > 0 {
                rest = self[earlier].spend(rest, currency)
            }
        }
        return remove(at: place)
    }
}

extension CustomerState {
    /// Everything that moves with the customer, apart from purchases.
    var belongings: Belongings {
        var all = Belongings()
        (all.grants, all.orders, all.tokens) = (grants, orders, tokens)
        all.coins = balances.coins
        (all.apps, all.accounts, all.consents) = (apps, installedBy, consents)
        return all
    }
}
