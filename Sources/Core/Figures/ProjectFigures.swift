/// The customers counted in figures: those of a project in one environment.
package struct FigureScope: Hashable, Sendable {
    package let project: ProjectID
    package let environment: Environment

    package init(_ project: ProjectID, _ environment: Environment) {
        self.project = project
        self.environment = environment
    }
}

/// Figures about customers as of one instant.
package struct ProjectFigures: Hashable, Sendable {
    /// How many customers have an entitlement or product now, and how many had it at an earlier time.
    package struct Active: Hashable, Sendable {
        package var now: Int64
        package var earlier: Int64

        package init(now: Int64 = 0, earlier: Int64 = 0) {
            self.now = now
            self.earlier = earlier
        }
    }

    /// Access that is about to end, ordered by its end.
    package struct Ending: Hashable, Comparable, Sendable {
        package let customer: String
        /// The customer's version when this was counted.
        package let version: Int64
        package let entitlement: String
        package let ends: Instant

        package init(customer: String, version: Int64, entitlement: String, ends: Instant) {
            self.customer = customer
            self.version = version
            self.entitlement = entitlement
            self.ends = ends
        }

        package static func < (one: Self, other: Self) -> Bool {
            (one.ends, one.customer, one.entitlement)
                < (other.ends, other.customer, other.entitlement)
        }
    }

    /// A refunded transaction, ordered newest first.
    package struct Refunded: Hashable, Comparable, Sendable {
        /// The customer, or the stream in which the purchase waits for one.
        package let customer: String
        /// The customer's version when this was counted.
        package let version: Int64
        package let product: String
        package let purchase: String
        package let transaction: String
        package let at: String

        package init(
            customer: String, version: Int64, product: String, purchase: String,
            transaction: String, at: String
        ) {
            self.customer = customer
            self.version = version
            self.product = product
            self.purchase = purchase
            self.transaction = transaction
            self.at = at
        }

        /// `nil` if no customer has claimed the purchase.
        package var owner: String? { customer.utf8.first == UInt8(ascii: "$") ? nil : customer }

        package static func < (one: Self, other: Self) -> Bool {
            (other.at, one.transaction) < (one.at, other.transaction)
        }
    }

    /// The first items of a list, with the length of the whole list.
    package struct Top<Item: Hashable & Comparable & Sendable>: Hashable, Sendable {
        package static var limit: Int { 1000 }

        package private(set) var count: Int64
        package private(set) var items: [Item]

        package init(count: Int64 = 0, items: [Item] = []) {
            self.count = count
            self.items = items
        }

        package mutating func add(_ item: Item) {
            count += 1
            if items.count == Self.limit, let last = items.last, last < item { return }
            // The items stay in order. A linear search suffices, because most lists are short.
            let place = items.firstIndex { item < $0 } ?? items.endIndex
            items.insert(item, at: place)
            if items.count > Self.limit { items.removeLast() }
        }
    }

    /// How far ahead "ending soon" looks, and how far back the earlier figures lie, in milliseconds.
    package static let week: Int64 = 7 * 86_400_000

    package let at: Instant
    /// Customers by entitlement name.
    package var entitlements: [String: Active]
    /// Customers by product name.
    package var products: [String: Active]
    package var ending: Top<Ending>
    package var refunds: Top<Refunded>
    package var unclaimed: Int64

    package init(
        at: Instant, entitlements: [String: Active] = [:], products: [String: Active] = [:],
        ending: Top<Ending> = Top(), refunds: Top<Refunded> = Top(), unclaimed: Int64 = 0
    ) {
        self.at = at
        self.entitlements = entitlements
        self.products = products
        self.ending = ending
        self.refunds = refunds
        self.unclaimed = unclaimed
    }

    package var weekAgo: Instant { at.advanced(byMilliseconds: -ProjectFigures.week) }
    package var weekAhead: Instant { at.advanced(byMilliseconds: ProjectFigures.week) }
}

extension [String: ProjectFigures.Active] {
    /// Adds the customers of one page. Leaves out a name that no customer has at either instant.
    package mutating func add(_ active: ProjectFigures.Active, named name: String) {
        if active.now == 0, active.earlier == 0 { return }
        self[name, default: ProjectFigures.Active()].now += active.now
        self[name, default: ProjectFigures.Active()].earlier += active.earlier
    }
}
