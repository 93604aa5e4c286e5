internal import Core

/// Something that happens to a customer of the store, in the form of scenarios and the control API.
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

        /// The members that apply to it, besides the customer.
        package var takes: [String] { keys.map(\.rawValue) }

        fileprivate var keys: [CodingKeys] {
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
            }
        }

        /// Whether it is about the shop, not about one customer.
        package var isForAll: Bool { [.raisePrice, .withdraw, .testNotification].contains(self) }
    }

    /// Why a customer requests a refund, in the store's words to the back end.
    package enum Reason: String, Codable, Hashable, Sendable {
        case unintendedPurchase = "unintended_purchase"
        case fulfillmentIssue = "fulfillment_issue"
        case unsatisfied = "unsatisfied_with_purchase"
        case legal
        case other
    }

    package var `do`: Act
    /// The customer concerned; a life's steps leave it out.
    package var customer: String?
    package var product: String?
    package var quantity: Int64?
    package var offer: String?
    /// The app account token of a purchase.
    package var token: String?
    /// The version of the app that was first installed.
    package var version: String?
    /// The transaction concerned; without it, the newest one of the product, or of all.
    package var transaction: String?
    /// The share of the price that is refunded, in percent; without it, everything.
    package var percent: Double?
    /// Whether a refund covers only the rest of a period, or what was not consumed.
    package var prorated: Bool?
    /// Whether a refund was the app's fault.
    package var forApp: Bool?
    /// By how many days a subscription is extended.
    package var days: Int64?
    /// The family member with whom a purchase is shared.
    package var with: String?
    /// Whether a purchase waits until a parent approves it.
    package var ask: Bool?
    package var price: Int64?
    /// The reason for a requested refund.
    package var reason: Reason?
    /// Whether a higher price needs the customer's consent.
    package var needsConsent: Bool?

    enum CodingKeys: String, CodingKey {
        case `do`, customer, product, quantity, offer, token, version, transaction, percent
        case prorated, days, with, ask, price, reason
        case forApp = "for_app"
        case needsConsent = "needs_consent"
    }

    package init(_ act: Act, customer: String? = nil, product: String? = nil) {
        self.do = act
        self.customer = customer
        self.product = product
    }

    /// The same step with changes.
    package func changed(_ change: (inout Step) -> Void) -> Step {
        var step = self
        change(&step)
        return step
    }

    /// The mistake in it, regardless of past sales, if any.
    var mistake: String? {
        let name = self.do.rawValue
        if let member = given.first(where: { !self.do.keys.contains($0) }) {
            return "\(name) takes no \(member.rawValue)"
        }
        if let token, AccountToken(token) == nil {
            return
                "token is \(quoted(token)); write a UUID like 6f0a4f0e-8a0e-4b43-9f5d-0d1b6c0f8a11"
        }
        if let quantity, !(1...1000).contains(quantity) { return "quantity is from 1 to 1000" }
        if let price, !Article.prices.contains(price) {
            return "price is from 0 to \(Article.prices.upperBound)"
        }
        if let percent, !(percent > 0 && percent <= 100) {
            return "percent is above 0 and at most 100"
        }
        return nil
    }

    /// The members that it has.
    private var given: [CodingKeys] {
        let all: [(CodingKeys, Bool)] = [
            (.product, product != nil), (.quantity, quantity != nil), (.offer, offer != nil),
            (.token, token != nil), (.version, version != nil),
            (.transaction, transaction != nil), (.percent, percent != nil),
            (.prorated, prorated != nil), (.forApp, forApp != nil), (.days, days != nil),
            (.with, with != nil), (.ask, ask != nil), (.price, price != nil),
            (.reason, reason != nil), (.needsConsent, needsConsent != nil),
        ]
        return all.filter(\.1).map(\.0)
    }
}
