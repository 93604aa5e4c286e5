/// Figures about a project's customers at one instant.
package struct ProjectFigures: Hashable, Sendable {
    /// How many customers have an entitlement or product now, and how many had it at an earlier time.
    package struct Active: Hashable, Sendable {
        package let name: String
        package let now: Int64
        package let earlier: Int64

        package init(name: String, now: Int64, earlier: Int64) {
            self.name = name
            self.now = now
            self.earlier = earlier
        }
    }

    /// Access that is about to end.
    package struct Ending: Hashable, Sendable {
        package let customer: String
        package let entitlement: String
        package let ends: Instant

        package init(customer: String, entitlement: String, ends: Instant) {
            self.customer = customer
            self.entitlement = entitlement
            self.ends = ends
        }
    }

    /// A transaction that was refunded.
    package struct Refunded: Hashable, Sendable {
        /// `nil` if no customer has claimed its purchase.
        package let customer: String?
        package let product: String
        package let purchase: String
        package let transaction: String
        package let at: String

        package init(
            customer: String?, product: String, purchase: String, transaction: String, at: String
        ) {
            self.customer = customer
            self.product = product
            self.purchase = purchase
            self.transaction = transaction
            self.at = at
        }
    }

    /// The first items of a list, with the length of the whole list.
    package struct Top<Item: Hashable & Sendable>: Hashable, Sendable {
        package let count: Int64
        package let items: [Item]

        package init(count: Int64, items: [Item]) {
            self.count = count
            self.items = items
        }
    }

    /// How far ahead "ending soon" looks, and how far back the earlier figures lie, in milliseconds.
    package static let week: Int64 = 7 * 86_400_000

    package let at: Instant
    package let entitlements: [Active]
    package let products: [Active]
    package let ending: Top<Ending>
    package let refunds: Top<Refunded>
    package let unclaimed: Int64

    package init(
        at: Instant, entitlements: [Active], products: [Active], ending: Top<Ending>,
        refunds: Top<Refunded>, unclaimed: Int64
    ) {
        self.at = at
        self.entitlements = entitlements
        self.products = products
        self.ending = ending
        self.refunds = refunds
        self.unclaimed = unclaimed
    }

    package var weekAgo: Instant { at.advanced(byMilliseconds: -ProjectFigures.week) }
}
