/// Everything that a customer has besides purchases. In a merge it moves as a whole.
package struct Belongings: Hashable, Sendable {
    package var grants: [Grant] = []
    package var orders: [Order] = []
    /// Tokens that belong to no order.
    package var tokens: [AccountToken] = []
    package var coins = Coins()
    package var apps: [AppFact] = []
    /// The accounts that installed apps.
    package var accounts: [AppTransactionID] = []
    package var consents: [ConsentFact] = []

    package init() {}

    /// The maximum weight for one event.
    static let limit = 1000

    /// Roughly in kilobytes. A grant or an order may have a long reason, and four credits take as
    /// much.
    var weight: Int { grants.count + orders.count + coins.credits.count / 4 }

    package var names: BelongingNames {
        BelongingNames(
            grants: grants.map(\.id), orders: orders.map(\.id),
            tokens: tokens + orders.map(\.opened.token), balances: coins.amounts)
    }

    /// All tokens that make purchases the customer's, including those of orders.
    package var allTokens: [AccountToken] { tokens + orders.map(\.opened.token) }
}

/// The names of belongings, for the stream that they left.
package struct BelongingNames: Hashable, Sendable {
    package let grants: [GrantID]
    package let orders: [OrderID]
    /// Includes the tokens of orders.
    package let tokens: [AccountToken]
    package let balances: [CurrencyID: Int64]
    /// Withdrawn consents to the use of apps that are no longer the customer's. Only for undone
    /// merges.
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

/// A customer merged into this one, with everything of that customer's that is still here.
package struct JoinedCustomer: Hashable, Sendable {
    package let customer: CustomerID
    /// Customers merged into that one before.
    package let others: [CustomerID]
    package let at: Instant
    package private(set) var purchases: Set<PurchaseID> = []
    package let grants: Set<GrantID>
    package let orders: Set<OrderID>
    package let tokens: Set<AccountToken>
    package let apps: [AppFact]
    package let accounts: [AppTransactionID]
    package let consents: [ConsentFact]
    /// How much of each balance belongs to that customer, and whether any of it was spent since.
    package private(set) var coins: [CurrencyID: Share]

    package struct Share: Hashable, Sendable {
        package var amount: Int128
        /// The part that came from no purchase.
        package var base: Int128
        package var isSpent = false

        package init(amount: Int128, base: Int128, isSpent: Bool = false) {
            (self.amount, self.base, self.isSpent) = (amount, base, isSpent)
        }
    }

    /// What came along with the customer: the names of what this one's own lists hold, and the
    /// rest whole.
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

    /// How much of each balance belongs to that customer, at the current worth of its purchases.
    func amounts(among credits: [Credit.Key: Credit]) -> [CurrencyID: Int128] {
        var amounts = coins.mapValues(\.base)
        for (key, credit) in credits where purchases.contains(key.purchase) {
            amounts[key.currency, default: 0] += Int128(credit.net)
        }
        return amounts
    }

    func hasSpent(_ currency: CurrencyID) -> Bool { coins[currency]?.isSpent ?? false }

    /// Customers who would be erased together with this one.
    package var all: [CustomerID] { [customer] + others }

    mutating func bring(_ purchase: PurchaseID) { purchases.insert(purchase) }

    mutating func lose(_ purchase: PurchaseID) { purchases.remove(purchase) }

    /// Adds the coins of a purchase, or subtracts the coins that its refund took.
    mutating func settle(_ amount: Int128, _ currency: CurrencyID, by purchase: PurchaseID) {
        if purchases.contains(purchase) {
            coins[currency, default: Share(amount: 0, base: 0)].amount += amount
        }
    }

    /// How much of the balance would go back to that customer.
    func share(of currency: CurrencyID) -> Int128 { max(0, coins[currency]?.amount ?? 0) }

    /// Notes that some of the share was spent.
    mutating func spend(_ currency: CurrencyID) {
        if share(of: currency) > 0 { coins[currency]?.isSpent = true }
    }
}

extension CustomerState {
    /// Everything that moves with the customer besides purchases.
    var belongings: Belongings {
        var all = Belongings()
        (all.grants, all.orders, all.tokens) = (grants, orders, tokens)
        all.coins = balances.coins
        (all.apps, all.accounts, all.consents) = (apps, installedBy, consents)
        return all
    }
}
