internal import Core

/// An action by or for a customer of the store, in the format of scenarios and the control API.
package struct Step: Codable, Hashable, Sendable {
    package enum Act: String, Codable, Hashable, Sendable, CaseIterable {
        case install
        case buy
        case cancel
        case resume
        case change
        case refund
        case reverse
        case requestRefund = "request_refund"
        case declineRefund = "decline_refund"
        case failBilling = "fail_billing"
        case fixBilling = "fix_billing"
        case extend
        case share
        case unshare
        case approve
        case decline
        case raisePrice = "raise_price"
        case consent
        case withdraw
        case setToken = "set_token"
        case finish
        case rescindConsent = "rescind_consent"
        case testNotification = "test_notification"
        case pause
        case hold
        case recover
        case topUp = "top_up"
        case addOn = "add_on"
        case postpone = "defer"
        case resubscribe

        /// The members that the action accepts in at least one store, besides the customer.
        package var takes: [String] {
            ["store"] + ((keys ?? []) + (playKeys ?? [])).map(\.rawValue)
        }

        /// The store to use if a step does not name one.
        package var usualStore: Seller { keys == nil ? .google : .apple }

        fileprivate func keys(in store: Seller) -> [CodingKeys]? {
            store == .apple ? keys : playKeys
        }

        /// The members that the action accepts in the App Store; `nil` if the action is not possible there.
        private var keys: [CodingKeys]? {
            switch self {
            case .install: [.version]
            case .buy: [.product, .quantity, .offer, .token, .version, .ask]
            case .change: [.product, .offer]
            case .cancel, .resume, .consent, .reverse, .declineRefund, .finish:
                [.product, .transaction]
            case .refund: [.product, .transaction, .percent, .prorated, .forApp]
            case .requestRefund: [.product, .transaction, .reason]
            case .extend: [.product, .transaction, .days]
            case .share, .unshare: [.product, .transaction, .with]
            case .setToken: [.product, .transaction, .token]
            case .raisePrice: [.product, .price, .needsConsent]
            case .withdraw: [.product]
            case .failBilling, .fixBilling, .approve, .decline, .rescindConsent,
                .testNotification:
                []
            case .pause, .hold, .recover, .topUp, .addOn, .postpone, .resubscribe: nil
            }
        }

        /// The members that the action accepts in Google Play; `nil` if the action is not possible there.
        private var playKeys: [CodingKeys]? {
            switch self {
            case .buy: [.product, .quantity, .offer, .token, .pending]
            case .change: [.product, .offer, .transaction, .when, .pending]
            case .topUp: [.product, .transaction, .pending]
            case .addOn: [.product, .pending]
            case .resubscribe: [.product, .transaction, .token, .inStore]
            case .cancel, .resume, .hold, .recover, .consent, .finish: [.product, .transaction]
            case .pause, .postpone: [.product, .transaction, .days]
            case .refund: [.product, .transaction, .quantity, .keepAccess]
            case .approve, .decline: [.transaction]
            case .raisePrice: [.product, .price, .needsConsent]
            case .failBilling, .fixBilling: []
            case .install, .reverse, .requestRefund, .declineRefund, .extend, .share, .unshare,
                .withdraw, .setToken, .rescindConsent, .testNotification:
                nil
            }
        }

        /// Whether the action affects the whole shop instead of a single customer.
        package var isForAll: Bool { [.raisePrice, .withdraw, .testNotification].contains(self) }
    }

    /// The store in which a step takes place.
    package enum Seller: String, Codable, Hashable, Sendable {
        case apple
        case google

        var title: String { self == .apple ? "the App Store" : "Google Play" }
    }

    /// When a change of subscription takes effect.
    package enum Start: String, Codable, Hashable, Sendable {
        case now
        case deferred
    }

    /// Why a customer requests a refund, with the values that the store sends to the back end.
    package enum Reason: String, Codable, Hashable, Sendable {
        case unintendedPurchase = "unintended_purchase"
        case fulfillmentIssue = "fulfillment_issue"
        case unsatisfied = "unsatisfied_with_purchase"
        case legal
        case other
    }

    package var `do`: Act
    package var store: Seller?
    /// The customer; omitted from the steps of a scenario.
    package var customer: String?
    package var product: String?
    package var quantity: Int64?
    package var offer: String?
    /// The app account token of a purchase.
    package var token: String?
    /// The version of the app that was first installed.
    package var version: String?
    /// The transaction, or the purchase token in Google Play. If it is missing, the newest transaction for the product
    /// is used, or else the newest of all.
    package var transaction: String?
    /// The refunded share of the price, in percent. If it is missing, the full price is refunded.
    package var percent: Double?
    /// Whether a refund covers only the unused part: the rest of a period, or what was not consumed.
    package var prorated: Bool?
    /// Whether a fault in the app is the reason for the refund.
    package var forApp: Bool?
    /// The number of days by which a subscription is extended.
    package var days: Int64?
    /// The family member with whom a purchase is shared.
    package var with: String?
    /// Whether a purchase waits until a parent approves it.
    package var ask: Bool?
    package var price: Int64?
    /// The reason for a requested refund.
    package var reason: Reason?
    /// Whether a price increase needs the customer's consent.
    package var needsConsent: Bool?
    /// Whether the first payment stays pending.
    package var pending: Bool?
    package var when: Start?
    /// Whether the customer keeps access after a refund.
    package var keepAccess: Bool?
    /// Whether the customer buys in the store's own app instead of the developer's app.
    package var inStore: Bool?

    enum CodingKeys: String, CodingKey {
        case `do`, store, customer, product, quantity, offer, token, version, transaction, percent
        case prorated, days, with, ask, price, reason, pending, when
        case keepAccess = "keep_access"
        case inStore = "in_store"
        case forApp = "for_app"
        case needsConsent = "needs_consent"
    }

    package init(_ act: Act, customer: String? = nil, product: String? = nil) {
        self.do = act
        self.customer = customer
        self.product = product
    }

    /// Returns a copy of this step with the changes applied.
    package func changed(_ change: (inout Step) -> Void) -> Step {
        var step = self
        change(&step)
        return step
    }

    var seller: Seller { store ?? self.do.usualStore }

    /// Describes what is wrong with the step; `nil` if it is valid. Does not consider earlier sales.
    var mistake: String? {
        let name = self.do.rawValue
        guard let keys = self.do.keys(in: seller) else { return "\(seller.title) has no \(name)" }
        if let member = given.first(where: { !keys.contains($0) }) {
            return "\(name) takes no \(member.rawValue)"
                + (seller == .google ? " in Google Play" : "")
        }
        if let token, AccountToken(token) == nil {
            return
                "token is \(quoted(token)); write a UUID like 6f0a4f0e-8a0e-4b43-9f5d-0d1b6c0f8a11"
        }
        if let quantity, !(1...1000).contains(quantity) { return "quantity must be from 1 to 1000" }
        if let price, !Article.prices.contains(price) {
            return "price must be from 0 to \(Article.prices.upperBound)"
        }
        if let percent, !(percent > 0 && percent <= 100) {
            return "percent must be above 0 and at most 100"
        }
        return nil
    }

    /// The members that the step contains.
    private var given: [CodingKeys] {
        let all: [(CodingKeys, Bool)] = [
            (.product, product != nil), (.quantity, quantity != nil), (.offer, offer != nil),
            (.token, token != nil), (.version, version != nil),
            (.transaction, transaction != nil), (.percent, percent != nil),
            (.prorated, prorated != nil), (.forApp, forApp != nil), (.days, days != nil),
            (.with, with != nil), (.ask, ask != nil), (.price, price != nil),
            (.reason, reason != nil), (.needsConsent, needsConsent != nil),
            (.pending, pending != nil), (.when, when != nil), (.keepAccess, keepAccess != nil),
            (.inStore, inStore != nil),
        ]
        return all.filter(\.1).map(\.0)
    }
}
