package import Core

/// The products of the random histories, for Core and for the naive model.
package let bazaar = catalog(
    shop.products + [
        product("monthly", .nonRenewing(duration: duration("P1M"), stacking: .extend), ["monthly"])
    ], rules: shop.originalVersionRules)

package let naiveBazaar: [String: NaiveModel.Product] = [
    "coins": .init(kind: .consumable, credits: ["coins": 100]),
    "chest": .init(kind: .consumable, credits: ["coins": 1000, "gems": 5]),
    "level2": .init(kind: .nonConsumable, entitlements: ["level2"]),
    "level3": .init(kind: .nonConsumable, entitlements: ["level3"], countsFamily: false),
    "season": .init(kind: .nonRenewing, entitlements: ["season"], days: 30),
    "boost": .init(kind: .nonRenewing, entitlements: ["boost"], days: 30, stacking: "restart"),
    "pass": .init(kind: .nonRenewing, entitlements: ["pass"], days: 30, stacking: "overlap"),
    "monthly": .init(kind: .nonRenewing, entitlements: ["monthly"], months: 1),
    "plus": .init(kind: .autoRenewable, entitlements: ["ad_free"]),
    "pro": .init(kind: .autoRenewable, entitlements: ["ad_free", "pro"]),
    "solo": .init(kind: .autoRenewable, entitlements: ["solo", "pro"], countsFamily: false),
]

extension NaiveModel.Answer {
    package init(_ entitlement: Entitlement) {
        self.init(
            isActive: entitlement.isActive, since: entitlement.run.start.milliseconds,
            until: entitlement.run.end?.milliseconds, state: entitlement.state.rawValue,
            product: entitlement.product?.text, willRenew: entitlement.willRenew)
    }
}
