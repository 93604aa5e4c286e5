/// A product that a store sells, and what it gives its holder.
package struct Product: Hashable, Sendable {
    /// The members that depend on the product's kind.
    package enum Terms: Hashable, Sendable {
        /// The amount that each unit adds to each balance.
        case consumable(credits: [CurrencyID: Int64])
        case nonConsumable
        case nonRenewing(duration: CalendarDuration, stacking: Stacking)
        case autoRenewable(group: String?, level: Int64)
    }

    /// What happens if a non-renewing product is bought again before its term has ended.
    package enum Stacking: String, Hashable, Sendable, CaseIterable {
        /// The next term starts when the current one ends.
        case extend
        /// The next term starts immediately, and the rest of the current one is lost.
        case restart
        /// Each term runs from its own purchase, independently of the others.
        case overlap
    }

    package let key: ProductKey
    package var terms: Terms
    /// The entitlements that the product unlocks, sorted and without duplicates.
    package var entitlements: [EntitlementID]
    /// Whether a purchase by a family member counts.
    package var isFamilyShared: Bool

    package init(
        key: ProductKey, terms: Terms, entitlements: [EntitlementID] = [],
        isFamilyShared: Bool = true
    ) {
        self.key = key
        self.terms = terms
        self.entitlements = Set(entitlements).sorted()
        self.isFamilyShared = isFamilyShared
    }

    package var id: ProductID { key.id }

    package var kind: ProductKind {
        switch terms {
        case .consumable: .consumable
        case .nonConsumable: .nonConsumable
        case .nonRenewing: .nonRenewing
        case .autoRenewable: .autoRenewable
        }
    }

    /// The amount that each unit adds to each balance; empty unless the product is a consumable.
    package var credits: [CurrencyID: Int64] {
        if case .consumable(let credits) = terms { credits } else { [:] }
    }

    /// The subscription group, in which the subscription with the highest level is the current one.
    package var group: String? {
        if case .autoRenewable(let group, _) = terms { group } else { nil }
    }

    /// The service level within the group; a larger number is a higher level.
    package var level: Int64 {
        if case .autoRenewable(_, let level) = terms { level } else { 0 }
    }
}

/// A product's key. Product ids are unique only within a store.
package struct ProductKey: Hashable, Comparable, Sendable {
    package let store: Store
    package let id: ProductID

    package init(store: Store, id: ProductID) {
        self.store = store
        self.id = id
    }

    package static func < (one: Self, other: Self) -> Bool {
        one.store == other.store
            ? one.id < other.id : one.store.rawValue < other.store.rawValue
    }
}

/// Entitlements for customers who first installed an app before a certain version, for example
/// because a paid app became a free one with in-app purchases.
package struct OriginalVersionRule: Hashable, Sendable {
    /// The app to which the rule applies; `nil` for all of the project's apps.
    package let app: AppID?
    package let below: String
    package let entitlements: [EntitlementID]

    package init(app: AppID? = nil, below: String, entitlements: [EntitlementID]) {
        self.app = app
        self.below = below
        self.entitlements = Set(entitlements).sorted()
    }

    func covers(_ fact: AppFact) -> Bool {
        guard app.map({ $0 == fact.app }) ?? true, let limit = AppVersion(below),
            let version = AppVersion(fact.originalVersion)
        else { return false }
        return version < limit
    }
}
