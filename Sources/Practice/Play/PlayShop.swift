package import Core

/// What the shop sells in Google Play, from the member `google` in `shop.json`.
package struct PlayShop: Hashable, Sendable, Codable {
    package struct Subscription: Hashable, Sendable, Codable {
        package var id: String
        package var basePlans: [BasePlan]

        enum CodingKeys: String, CodingKey {
            case id
            case basePlans = "base_plans"
        }
    }

    package struct BasePlan: Hashable, Sendable, Codable {
        package enum Kind: String, Sendable, Codable {
            case autoRenewing = "auto_renewing"
            case prepaid
            case instalments
        }
        package var id: String
        package var kind: Kind
        package var period: Wait
        /// The price in thousandths of the currency's unit, like all prices in the shop.
        package var price: Int64
        package var currency: String?
        /// How long access continues after a failed renewal, and how long the subscription is on hold after that.
        package var grace: Wait?
        package var hold: Wait?
        /// The number of payments in the first commitment of an instalment plan, and in each later one.
        package var payments: Int?
        package var laterPayments: Int?
        package var tags: [String]?
        package var offers: [Offer]?

        enum CodingKeys: String, CodingKey {
            case id, kind, period, price, currency, grace, hold, payments, tags, offers
            case laterPayments = "later_payments"
        }
    }

    package struct Offer: Hashable, Sendable, Codable {
        package struct Phase: Hashable, Sendable, Codable {
            package var period: Wait
            /// The price. Zero means a free trial.
            package var price: Int64
            /// The number of periods. The default is one.
            package var payments: Int?
        }
        package var id: String
        package var tags: [String]?
        /// Whether the offer is only for customers who never had the subscription.
        package var forNew: Bool?
        package var phases: [Phase]

        enum CodingKeys: String, CodingKey {
            case id, tags, phases
            case forNew = "for_new"
        }

        /// Returns the phase of the payment with that number, counted from zero, or `nil` after the last phase.
        func phase(ofPayment number: Int) -> Phase? {
            var left = number
            for phase in phases {
                if left < phase.payments ?? 1 { return phase }
                left -= phase.payments ?? 1
            }
            return nil
        }
    }

    package struct Product: Hashable, Sendable, Codable {
        package var id: String
        package var price: Int64
        package var currency: String?
        /// Whether apps consume the product, so that it can be bought again.
        package var consumable: Bool?
        /// Whether a customer can buy more than one at a time.
        package var multiQuantity: Bool?
        /// How long a rented product may be used; `nil` if the product is sold permanently.
        package var rental: Wait?
        /// When a pre-ordered product is released and charged.
        package var release: Instant?

        enum CodingKeys: String, CodingKey {
            case id, price, currency, consumable, rental, release
            case multiQuantity = "multi_quantity"
        }
    }

    package var packageName: String
    /// The share of Google's quotas that applies, in percent.
    package var quotaPercent: Double?
    /// Whether a replaced token still appears as active until its period ends, as sometimes happens with the real
    /// store.
    package var oldTokensLinger: Bool?
    package var subscriptions: [Subscription]
    package var products: [Product]

    enum CodingKeys: String, CodingKey {
        case subscriptions, products
        case packageName = "package"
        case quotaPercent = "quota_percent"
        case oldTokensLinger = "old_tokens_linger"
    }

    func product(_ id: String) -> Product? { products.first { $0.id == id } }

    func plan(_ choice: PlayChoice) -> BasePlan? {
        subscriptions.first { $0.id == choice.product }?.basePlans.first { $0.id == choice.plan }
    }
}

/// A subscription with one of its base plans, written as `pro:monthly`.
package struct PlayChoice: Hashable, Sendable, Codable, CustomStringConvertible {
    package let product: String
    package let plan: String

    package var description: String { "\(product):\(plan)" }
}

extension PlayShop {
    /// Describes what is wrong with the shop; `nil` if it is valid.
    var mistake: String? {
        if packageName.split(separator: ".").count < 2 {
            return "google.package is \(quoted(packageName)); write a name like com.example.game"
        }
        var seen: Set<String> = []
        for id in subscriptions.map(\.id) + products.map(\.id) where !seen.insert(id).inserted {
            return "\(id) is listed twice in google; remove one"
        }
        for subscription in subscriptions {
            if subscription.basePlans.isEmpty { return "\(subscription.id) has no base plan" }
            for plan in subscription.basePlans {
                if let mistake = plan.mistake { return "\(subscription.id):\(plan.id) \(mistake)" }
            }
        }
        for product in products where !Article.prices.contains(product.price) {
            return "\(product.id) has the price \(product.price); \(Self.priceHint)"
        }
        return nil
    }

    fileprivate static let priceHint = "it must be from 0 to \(Article.prices.upperBound)"
}

extension PlayShop.BasePlan {
    fileprivate var mistake: String? {
        let phases = (offers ?? []).flatMap(\.phases)
        for price in [price] + phases.map(\.price) where !Article.prices.contains(price) {
            return "has the price \(price); \(PlayShop.priceHint)"
        }
        if period.milliseconds <= 0 { return "has no period; say how long it lasts, like P1M" }
        for phase in phases {
            if phase.period.milliseconds <= 0 { return "has an offer whose phase has no length" }
            if !(1...1000).contains(phase.payments ?? 1) {
                return "has an offer of \(phase.payments ?? 1) payments; it must have 1 to 1000"
            }
        }
        for (name, wait, most) in [("grace", grace, 30), ("hold", hold, 60)] {
            if let wait, wait.milliseconds > Int64(most) * 86_400_000 {
                return "has a \(name) of \(wait.text); Google allows \(most) days"
            }
        }
        let counts = [payments, laterPayments].compactMap(\.self)
        if kind == .instalments, payments == nil { return "has no payments; say how many" }
        if kind != .instalments, !counts.isEmpty {
            return "has payments, but is not an instalment plan"
        }
        if !counts.allSatisfy({ (1...120).contains($0) }) { return "has 1 to 120 payments" }
        if kind == .prepaid, offers?.isEmpty == false {
            return "is prepaid, and prepaid plans have no offers"
        }
        return nil
    }
}

extension PlayShop {
    /// What a new store sells in Google Play.
    static let example: PlayShop = {
        let text = """
            {"package": "com.example.game",
             "subscriptions": [
              {"id": "pro", "base_plans": [
               {"id": "monthly", "kind": "auto_renewing", "period": "P1M", "price": 9990,
                "grace": "3d", "hold": "30d",
                "offers": [
                 {"id": "trial", "for_new": true, "phases": [{"period": "P1W", "price": 0}]},
                 {"id": "first-months", "tags": ["spring"],
                  "phases": [{"period": "P1W", "price": 0},
                             {"period": "P1M", "price": 1990, "payments": 3}]}]},
               {"id": "yearly", "kind": "auto_renewing", "period": "P1Y", "price": 79990,
                "grace": "14d"},
               {"id": "prepaid-month", "kind": "prepaid", "period": "P1M", "price": 10990},
               {"id": "instalments", "kind": "instalments", "period": "P1M", "price": 7990,
                "payments": 12}]},
              {"id": "premium", "base_plans": [
               {"id": "monthly", "kind": "auto_renewing", "period": "P1M", "price": 14990,
                "grace": "3d"}]},
              {"id": "sounds", "base_plans": [
               {"id": "monthly", "kind": "auto_renewing", "period": "P1M", "price": 2990}]}],
             "products": [
              {"id": "coins.100", "price": 990, "consumable": true, "multi_quantity": true},
              {"id": "level2", "price": 2990},
              {"id": "film", "price": 3990, "rental": "P30D"},
              {"id": "sequel", "price": 5990, "release": "2030-01-01T00:00:00Z"}]}
            """
        do {
            return try readStrictly(Array(text.utf8))
        } catch {
            preconditionFailure("the example is wrong: \(error)")
        }
    }()
}
