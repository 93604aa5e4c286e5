package import Core

/// The app and the products that it sells, from the file `shop.json`.
package struct Shop: Hashable, Sendable, Codable {
    package struct App: Hashable, Sendable, Codable {
        package var bundleID: String
        package var appleID: Int64
        /// The version that customers install.
        package var version: String
        /// The password that verifyReceipt requires.
        package var sharedSecret: String
        /// The address to which notifications are posted; `nil` if none are posted.
        package var notificationURL: String?
        /// How often delivery of a notification is attempted: repeatedly as in `production`, or once as in `sandbox`.
        package var retries: Retries
        /// The limits of the server API, in percent of production's limits. In the sandbox, the value is 10.
        package var rateLimitPercent: Double?
        /// Whether a renewal is charged before the period ends, which is the default. If false,
        /// periods have a gap between them.
        package var renewsEarly: Bool?

        enum CodingKeys: String, CodingKey {
            case bundleID = "bundle_id"
            case appleID = "apple_id"
            case version
            case sharedSecret = "shared_secret"
            case notificationURL = "notification_url"
            case retries
            case rateLimitPercent = "rate_limit_percent"
            case renewsEarly = "renews_early"
        }
    }

    package enum Retries: String, Sendable, Codable {
        case production
        case sandbox
    }

    package var app: App
    package var products: [Article]
    /// What the shop sells in Google Play; `nil` if it sells nothing there.
    package var google: PlayShop?

    package init(app: App, products: [Article]) {
        self.app = app
        self.products = products
    }

    package func article(_ id: String) -> Article? { products.first { $0.id == id } }
}

/// A product from the shop.
package struct Article: Hashable, Sendable, Codable {
    package struct Offer: Hashable, Sendable, Codable {
        package enum Kind: String, Sendable, Codable {
            case introductory
            case promotional
            case code
            case winBack = "win_back"
        }
        package enum Discount: String, Sendable, Codable {
            case freeTrial = "free_trial"
            case payAsYouGo = "pay_as_you_go"
            case payUpFront = "pay_up_front"
        }
        package var id: String
        package var kind: Kind
        package var discount: Discount
        /// The length of the offer. For a pay-as-you-go offer, it is the length of the period that each payment
        /// covers.
        package var period: Wait
        /// The number of payments in a pay-as-you-go offer.
        package var payments: Int?
        package var price: Int64?
    }

    package var id: String
    package var kind: ProductKind
    /// The price for a quantity of one, in thousandths of the currency's unit.
    package var price: Int64
    package var currency: String?
    /// For an auto-renewable subscription: its group, its level in the group, and the length of one period.
    package var group: String?
    package var level: Int?
    package var period: Wait?
    /// How long access continues after a failed renewal payment.
    package var grace: Wait?
    /// Whether the product is sold for twelve months with monthly payments.
    package var commitment: Bool?
    package var familyShareable: Bool?
    package var offers: [Offer]?

    enum CodingKeys: String, CodingKey {
        case id, kind, price, currency, group, level, period, grace, commitment, offers
        case familyShareable = "family_shareable"
    }

    package init(id: String, kind: ProductKind, price: Int64) {
        self.id = id
        self.kind = kind
        self.price = price
    }

    var isRenewing: Bool { kind == .autoRenewable }

    /// The range of permitted prices.
    static let prices: ClosedRange<Int64> = 0...1_000_000_000_000

    /// Describes what is wrong with the product; `nil` if it is valid.
    var mistake: String? {
        for price in [price] + (offers ?? []).compactMap(\.price)
        where !Self.prices.contains(price) {
            return "has the price \(price); it must be from 0 to \(Self.prices.upperBound)"
        }
        for payments in (offers ?? []).compactMap(\.payments) where !(1...1000).contains(payments) {
            return "has an offer of \(payments) payments; it must have 1 to 1000"
        }
        if !isRenewing { return nil }
        if group == nil { return "has no group; name the one that it belongs to" }
        if level == nil { return "has no level; the lowest is 1" }
        guard let period, period.milliseconds > 0 else {
            return "has no period; say how long it lasts, like P1M"
        }
        // The store extends an unpaid renewal by one period at most.
        if let grace, grace.milliseconds > period.milliseconds {
            return "has a longer grace than period"
        }
        return nil
    }
}

extension Shop {
    /// Reads the file. The error says what is wrong with it.
    package init(_ bytes: [UInt8]) throws(PracticeError) {
        self = try readStrictly(bytes)
        if let url = app.notificationURL, !Shop.isAddress(url) {
            throw .invalid("app.notification_url is \(quoted(url)); \(Shop.addressHint)")
        }
        var seen: Set<String> = []
        for article in products {
            if let mistake = article.mistake { throw .invalid("\(article.id) \(mistake)") }
            if !seen.insert(article.id).inserted {
                throw .invalid("\(article.id) is listed twice; remove one")
            }
        }
        if let mistake = google?.mistake { throw .invalid(mistake) }
    }

    /// The shop of a new store.
    package static let example: Shop = {
        let trial = Article.Offer(
            id: "trial", kind: .introductory, discount: .freeTrial, period: Wait(days: 7))
        func renewing(_ id: String, _ level: Int, _ period: String, _ price: Int64) -> Article {
            var article = Article(id: id, kind: .autoRenewable, price: price)
            article.group = "membership"
            article.level = level
            article.period = Wait(period)
            article.grace = Wait(days: 16)
            article.familyShareable = true
            article.offers = [trial]
            return article
        }
        var month = renewing("pro.month", 2, "P1M", 9990)
        month.offers = [
            trial,
            Article.Offer(
                id: "first-months", kind: .introductory, discount: .payAsYouGo,
                period: Wait(text: "P1M"), payments: 3, price: 1990),
            Article.Offer(
                id: "come-back", kind: .promotional, discount: .payUpFront,
                period: Wait(text: "P2M"), price: 4990),
            Article.Offer(
                id: "FRIENDS", kind: .code, discount: .freeTrial, period: Wait(text: "P1M")),
        ]
        var committed = renewing("pro.commitment", 2, "P1M", 7990)
        committed.commitment = true
        committed.offers = nil
        let basic = renewing("basic.month", 1, "P1M", 4990)
        let year = renewing("pro.year", 2, "P1Y", 79_990)
        let premium = renewing("premium.month", 3, "P1M", 14_990)
        let other = renewing("pro.month.plus", 2, "P1M", 9990)
        var map = Article(id: "level2", kind: .nonConsumable, price: 2990)
        map.familyShareable = true
        var shop = Shop(
            app: App(
                bundleID: "com.example.game", appleID: 1_234_567_890, version: "2.1",
                sharedSecret: "practice-shared-secret", notificationURL: nil, retries: .production),
            products: [
                month, year, basic, premium, other, committed,
                Article(id: "coins.100", kind: .consumable, price: 990), map,
                Article(id: "season", kind: .nonRenewing, price: 5990),
            ])
        shop.google = .example
        return shop
    }()
}

extension Wait {
    /// Creates a duration from a string that is known to be valid.
    init(text: String) {
        guard let wait = Wait(text) else { preconditionFailure("\(text) is not a length of time") }
        self = wait
    }
}
