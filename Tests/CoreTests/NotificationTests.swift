import Core
import Histories
import Testing

/// A test of what one type of App Store notification changes. Only the signed values inside count
/// as facts. Before each notification, the customer has "pro" from day 0 to day 30, unless the test
/// says otherwise. Days count from 1 January 2026.
struct NotificationStory: CustomTestStringConvertible, Sendable {
    let type: String
    let subtype: String
    var before = [facts([month(0)], renewals: [renewal(of: "1", signed: at(0))])]
    let brings: Facts
    let events: [String]
    var entitlement = "pro"
    let boundaries: [Boundary]

    var testDescription: String { "\(type) \(subtype)" }
}

/// Returns one of the subscription's thirty-day periods, beginning on that day.
private func month(
    _ start: Int64, _ product: String = "pro", signed: Int64? = nil,
    _ change: (inout TransactionFact) -> Void = { _ in }
) -> TransactionFact {
    transaction(
        start == 0 ? "1" : "\(start)", of: "1", product, .autoRenewable, at(start),
        to: at(start + 30), signed: at(signed ?? start), change)
}

private func ending(_ intent: ExpirationIntent, retry: Bool = false) -> Facts {
    facts(
        renewals: [
            renewal(of: "1", signed: at(30), on: false) {
                $0.expirationIntent = intent
                $0.isInBillingRetry = retry
            }
        ])
}

private let failing = facts(
    renewals: [
        renewal(of: "1", signed: at(30)) {
            $0.isInBillingRetry = true
            $0.graceUntil = at(46)
        }
    ])
private let nothing = facts()

@Suite("App Store notifications")
struct NotificationTests {
    static let beginnings: [NotificationStory] = [
        NotificationStory(
            type: "SUBSCRIBED", subtype: "INITIAL_BUY", before: [],
            brings: facts([month(0)], renewals: [renewal(of: "1", signed: at(0))]),
            events: ["purchase.made", "renewal.changed"],
            boundaries: [
                Boundary(at(0), "no upcoming 0.0", "yes active 5.0"),
                Boundary(at(30), "yes active 5.0", "no expired 0.0"),
            ]),
        NotificationStory(
            type: "SUBSCRIBED", subtype: "INITIAL_BUY of a family member", before: [],
            brings: facts([month(0) { $0.ownership = .familyShared }]), events: ["purchase.made"],
            boundaries: [Boundary(at(0), "no upcoming 0.0", "yes active 5.0")]),
        NotificationStory(
            type: "SUBSCRIBED", subtype: "RESUBSCRIBE",
            before: [facts([month(0)]), ending(.cancelled)],
            brings: facts([month(50)], renewals: [renewal(of: "1", signed: at(50))]),
            events: ["subscription.renewed", "renewal.changed"],
            boundaries: [
                Boundary(at(30), "yes active 5.0", "no upcoming 0.0"),
                Boundary(at(50), "no upcoming 0.0", "yes active 5.0"),
                Boundary(at(80), "yes active 5.0", "no expired 0.0"),
            ]),
        NotificationStory(
            type: "ONE_TIME_CHARGE", subtype: "-", before: [],
            brings: facts([transaction("9", "level2", .nonConsumable, at(4))]),
            events: ["purchase.made"], entitlement: "level2",
            boundaries: [Boundary(at(4), "no upcoming 0.0", "yes active 3.0")]),
        NotificationStory(
            type: "OFFER_REDEEMED", subtype: "-",
            brings: facts([month(30) { $0.offer = Offer(kind: .code) }]),
            events: ["subscription.renewed"],
            boundaries: [Boundary(at(30), "yes active 5.0", "yes active 5.3")]),
        NotificationStory(
            type: "OFFER_REDEEMED", subtype: "UPGRADE", before: [facts([month(0, "plus")])],
            brings: facts([
                month(10) { $0.offer = Offer(kind: .promotional) },
                month(0, "plus", signed: 10) { $0.isUpgraded = true },
            ]),
            events: ["subscription.upgraded", "purchase.restated"],
            boundaries: [Boundary(at(10), "no upcoming 0.0", "yes active 5.3")]),
        NotificationStory(
            type: "OFFER_REDEEMED", subtype: "DOWNGRADE",
            brings: facts(renewals: [
                renewal(of: "1", signed: at(9)) {
                    $0.nextProduct = id("plus")
                    $0.offer = Offer(kind: .promotional)
                }
            ]),
            events: ["renewal.changed"],
            boundaries: [
                Boundary(at(9), "yes active 5.0", "yes active 5.0"),
                Boundary(at(30), "yes active 5.0", "no expired 0.0"),
            ]),
    ]

    static let renewals: [NotificationStory] = [
        NotificationStory(
            type: "DID_RENEW", subtype: "-",
            brings: facts([month(30)], renewals: [renewal(of: "1", signed: at(30))]),
            events: ["subscription.renewed", "renewal.restated"],
            boundaries: [
                Boundary(at(30), "yes active 5.0", "yes active 5.0"),
                Boundary(at(60), "yes active 5.0", "no expired 0.0"),
            ]),
        NotificationStory(
            type: "DID_RENEW", subtype: "BILLING_RECOVERY in grace",
            before: [facts([month(0)]), failing],
            brings: facts([month(40)], renewals: [renewal(of: "1", signed: at(40))]),
            events: ["subscription.renewed", "renewal.changed"],
            boundaries: [
                Boundary(at(30), "yes active 5.0", "yes grace 1.0"),
                Boundary(at(40), "yes grace 1.0", "yes active 5.0"),
                Boundary(at(46), "yes active 5.0", "yes active 5.0"),
                Boundary(at(70), "yes active 5.0", "no expired 0.0"),
            ]),
        NotificationStory(
            type: "DID_RENEW", subtype: "BILLING_RECOVERY after grace",
            before: [facts([month(0)]), failing],
            brings: facts([month(50)], renewals: [renewal(of: "1", signed: at(50))]),
            events: ["subscription.renewed", "renewal.changed"],
            boundaries: [
                Boundary(at(46), "yes grace 1.0", "no upcoming 0.0"),
                Boundary(at(50), "no upcoming 0.0", "yes active 5.0"),
            ]),
        NotificationStory(
            type: "DID_CHANGE_RENEWAL_PREF", subtype: "UPGRADE",
            before: [facts([month(0, "plus")])],
            brings: facts([month(10)], renewals: [renewal(of: "1", signed: at(10))]),
            events: ["subscription.upgraded", "renewal.changed"],
            boundaries: [Boundary(at(10), "no upcoming 0.0", "yes active 5.0")]),
        NotificationStory(
            type: "DID_CHANGE_RENEWAL_PREF", subtype: "DOWNGRADE",
            brings: facts(renewals: [
                renewal(of: "1", signed: at(9)) { $0.nextProduct = id("plus") }
            ]),
            events: ["renewal.changed"],
            boundaries: [Boundary(at(30), "yes active 5.0", "no expired 0.0")]),
        NotificationStory(
            type: "DID_CHANGE_RENEWAL_PREF", subtype: "- (change withdrawn)",
            before: [
                facts(
                    [month(0)],
                    renewals: [renewal(of: "1", signed: at(5)) { $0.nextProduct = id("plus") }])
            ],
            brings: facts(renewals: [
                renewal(of: "1", signed: at(9)) { $0.nextProduct = id("pro") }
            ]),
            events: ["renewal.changed"],
            boundaries: [Boundary(at(9), "yes active 5.0", "yes active 5.0")]),
        NotificationStory(
            type: "DID_CHANGE_RENEWAL_STATUS", subtype: "AUTO_RENEW_DISABLED",
            brings: facts(renewals: [renewal(of: "1", signed: at(9), on: false)]),
            events: ["renewal.changed"],
            boundaries: [
                Boundary(at(9), "yes active 4.0", "yes active 4.0"),
                Boundary(at(30), "yes active 4.0", "no expired -5.0"),
            ]),
        NotificationStory(
            type: "DID_CHANGE_RENEWAL_STATUS", subtype: "AUTO_RENEW_ENABLED",
            before: [facts([month(0)], renewals: [renewal(of: "1", signed: at(5), on: false)])],
            brings: facts(renewals: [renewal(of: "1", signed: at(9))]),
            events: ["renewal.changed"],
            boundaries: [Boundary(at(30), "yes active 5.0", "no expired 0.0")]),
        NotificationStory(
            type: "RENEWAL_EXTENDED", subtype: "-",
            brings: facts([month(0, signed: 9) { $0.expires = at(35) }]),
            events: ["subscription.extended"],
            boundaries: [
                Boundary(at(30), "yes active 5.0", "yes active 5.0"),
                Boundary(at(35), "yes active 5.0", "no expired 0.0"),
            ]),
    ]

    static let failures: [NotificationStory] = [
        NotificationStory(
            type: "DID_FAIL_TO_RENEW", subtype: "GRACE_PERIOD", brings: failing,
            events: ["renewal.changed"],
            boundaries: [
                Boundary(at(30), "yes active 5.0", "yes grace 1.0"),
                Boundary(at(46), "yes grace 1.0", "no retry -1.0"),
            ]),
        NotificationStory(
            type: "DID_FAIL_TO_RENEW", subtype: "-",
            brings: facts(renewals: [
                renewal(of: "1", signed: at(30)) { $0.isInBillingRetry = true }
            ]),
            events: ["renewal.changed"],
            boundaries: [Boundary(at(30), "yes active 5.0", "no retry -1.0")]),
        NotificationStory(
            type: "GRACE_PERIOD_EXPIRED", subtype: "-", before: [facts([month(0)]), failing],
            brings: facts(renewals: [
                renewal(of: "1", signed: at(46)) { $0.isInBillingRetry = true }
            ]),
            events: ["renewal.changed"],
            boundaries: [
                Boundary(at(30), "yes active 5.0", "yes grace 1.0"),
                Boundary(at(46), "yes grace 1.0", "no retry -1.0"),
            ]),
        NotificationStory(
            type: "EXPIRED", subtype: "VOLUNTARY", brings: ending(.cancelled),
            events: ["renewal.changed"],
            boundaries: [Boundary(at(30), "yes active 4.0", "no expired -5.0")]),
        NotificationStory(
            type: "EXPIRED", subtype: "BILLING_RETRY", before: [facts([month(0)]), failing],
            brings: facts(renewals: [
                renewal(of: "1", signed: at(90), on: false) { $0.expirationIntent = .billingError }
            ]),
            events: ["renewal.changed"],
            boundaries: [
                Boundary(at(46), "yes grace 1.0", "no expired -2.0"),
                Boundary(at(90), "no expired -2.0", "no expired -2.0"),
            ]),
        NotificationStory(
            type: "EXPIRED", subtype: "PRICE_INCREASE", brings: ending(.priceIncreaseRefused),
            events: ["renewal.changed"],
            boundaries: [Boundary(at(30), "yes active 4.0", "no expired -3.0")]),
        NotificationStory(
            type: "EXPIRED", subtype: "PRODUCT_NOT_FOR_SALE", brings: ending(.productUnavailable),
            events: ["renewal.changed"],
            boundaries: [Boundary(at(30), "yes active 4.0", "no expired -4.0")]),
        NotificationStory(
            type: "EXPIRED", subtype: "-", brings: ending(.other), events: ["renewal.changed"],
            boundaries: [Boundary(at(30), "yes active 4.0", "no expired 0.0")]),
    ]

    static let refunds: [NotificationStory] = [
        NotificationStory(
            type: "REFUND", subtype: "- (full)",
            brings: facts([month(0, signed: 13) { $0.revocation = refund(at: at(12)) }]),
            events: ["purchase.refunded"],
            boundaries: [Boundary(at(12), "yes active 5.0", "no revoked -8.0")]),
        NotificationStory(
            type: "REFUND", subtype: "- (prorated)",
            brings: facts([
                month(0, signed: 13) {
                    $0.revocation = refund(at: at(12), .prorated, milliPercent: 60_000)
                }
            ]),
            events: ["purchase.refunded"],
            boundaries: [Boundary(at(12), "yes active 5.0", "no revoked -8.0")]),
        NotificationStory(
            type: "REFUND", subtype: "- (of the period in grace)",
            before: [facts([month(0)]), failing],
            brings: facts([month(0, signed: 41) { $0.revocation = refund(at: at(40)) }]),
            events: ["purchase.refunded"],
            boundaries: [
                Boundary(at(30), "yes active 5.0", "yes grace 1.0"),
                Boundary(at(40), "yes grace 1.0", "no revoked -8.0"),
                Boundary(at(46), "no revoked -8.0", "no revoked -8.0"),
            ]),
        NotificationStory(
            type: "REFUND", subtype: "- (of the period that recovered in grace)",
            before: [facts([month(0)]), failing, facts([month(35)])],
            brings: facts([month(35, signed: 41) { $0.revocation = refund(at: at(40)) }]),
            events: ["purchase.refunded"],
            boundaries: [
                Boundary(at(35), "yes grace 1.0", "yes active 5.0"),
                Boundary(at(40), "yes active 5.0", "no revoked -8.0"),
            ]),
        NotificationStory(
            type: "REFUND_DECLINED", subtype: "-", brings: facts([month(0)]), events: [],
            boundaries: [Boundary(at(12), "yes active 5.0", "yes active 5.0")]),
        NotificationStory(
            type: "REFUND_REVERSED", subtype: "-",
            before: [facts([month(0, signed: 13) { $0.revocation = refund(at: at(12)) }])],
            brings: facts([month(0, signed: 20)]), events: ["refund.reversed"],
            boundaries: [
                Boundary(at(12), "yes active 5.0", "yes active 5.0"),
                Boundary(at(30), "yes active 5.0", "no expired 0.0"),
            ]),
        NotificationStory(
            type: "REVOKE", subtype: "-",
            before: [facts([month(0) { $0.ownership = .familyShared }])],
            brings: facts([
                month(0, signed: 13) {
                    $0.ownership = .familyShared
                    $0.revocation = refund(at: at(12), .family)
                }
            ]),
            events: ["purchase.revoked"],
            boundaries: [Boundary(at(12), "yes active 5.0", "no revoked -8.0")]),
        NotificationStory(
            type: "CONSUMPTION_REQUEST", subtype: "-", brings: facts([month(0)]), events: [],
            boundaries: [Boundary(at(12), "yes active 5.0", "yes active 5.0")]),
    ]

    /// Notifications that repeat known facts, state something about a price, or contain no fact at all.
    static let rest: [NotificationStory] =
        [
            NotificationStory(
                type: "PRICE_INCREASE", subtype: "PENDING",
                brings: facts(renewals: [
                    renewal(of: "1", signed: at(9)) { $0.priceConsent = .pending }
                ]),
                events: ["renewal.changed"],
                boundaries: [Boundary(at(30), "yes active 5.0", "no expired 0.0")]),
            NotificationStory(
                type: "PRICE_INCREASE", subtype: "ACCEPTED",
                brings: facts(renewals: [
                    renewal(of: "1", signed: at(9)) { $0.priceConsent = .given }
                ]),
                events: ["renewal.changed"],
                boundaries: [Boundary(at(30), "yes active 5.0", "no expired 0.0")]),
            NotificationStory(
                type: "PRICE_CHANGE", subtype: "-",
                brings: facts([
                    month(0, signed: 9) { $0.price = Price(milliunits: 1, currency: nil) }
                ]),
                events: ["purchase.restated"],
                boundaries: [Boundary(at(30), "yes active 5.0", "no expired 0.0")]),
        ] + silent

    static let silent: [NotificationStory] = [
        ("RENEWAL_EXTENSION", "SUMMARY"), ("RENEWAL_EXTENSION", "FAILURE"),
        ("EXTERNAL_PURCHASE_TOKEN", "CREATED"),
        ("EXTERNAL_PURCHASE_TOKEN", "ACTIVE_TOKEN_REMINDER"),
        ("EXTERNAL_PURCHASE_TOKEN", "UNREPORTED"), ("RESCIND_CONSENT", "-"),
        ("METADATA_UPDATE", "-"), ("MIGRATION", "-"), ("TEST", "-"),
        ("A_TYPE_OF_TOMORROW", "SOMEHOW"),
    ].map {
        NotificationStory(
            type: $0.0, subtype: $0.1, brings: nothing, events: [],
            boundaries: [Boundary(at(12), "yes active 5.0", "yes active 5.0")])
    }

    @Test("Beginnings", arguments: beginnings)
    func beginning(_ story: NotificationStory) { check(story) }

    @Test("Renewals and the next renewal's product", arguments: renewals)
    func periods(_ story: NotificationStory) { check(story) }

    @Test("Failed renewals and ends", arguments: failures)
    func endings(_ story: NotificationStory) { check(story) }

    @Test("Refunds and revocations", arguments: refunds)
    func revocations(_ story: NotificationStory) { check(story) }

    @Test("Everything that does not change access", arguments: rest)
    func others(_ story: NotificationStory) { check(story) }

    private func check(_ story: NotificationStory) {
        var state = CustomerState(recording: story.before)
        let events = state.record(story.brings)
        #expect(events.map(\.type.name) == story.events)
        #expect(state.record(story.brings).isEmpty, "the same notification changes nothing again")
        WorkedExample(
            story.testDescription, story.entitlement, story.before + [story.brings],
            story.boundaries
        ).check()
        WorkedExample(
            story.testDescription + ", told backwards", story.entitlement,
            [story.brings] + story.before.reversed(), story.boundaries
        ).check()
    }
}
