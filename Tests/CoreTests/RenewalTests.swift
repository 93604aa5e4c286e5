import Core
import Histories
import Testing

/// Whether a subscription goes on, and why it does not. Days count from 1 January 2026.
@Suite("What a subscription will do")
struct RenewalTests {
    /// A story with the store, and what is answered of `pro` at some moments: whether it is active, its
    /// state, whether it renews, and why it ended.
    struct Example: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let evidence: Facts
        let answers: [(at: Instant, text: String)]

        init(_ name: String, _ evidence: Facts, _ answers: [(at: Instant, text: String)]) {
            testDescription = name
            self.evidence = evidence
            self.answers = answers
        }
    }

    private static let month = transaction("1", "pro", .autoRenewable, at(0), to: at(30))

    static let ends: [Example] = [
        Example(
            "Nothing was said of its renewal: it renews until it has ended", facts([month]),
            [
                (at(30, -1), "yes active 5.0 renews"), (at(30), "no expired 0.0 ends"),
                (at(400), "no expired 0.0 ends"),
            ]),
        Example(
            "The store's last word was that it renews, and no more came",
            facts([month], renewals: [renewal(of: "1", signed: at(2))]),
            [(at(30, -1), "yes active 5.0 renews"), (at(30), "no expired 0.0 ends")]),
        Example(
            "It was cancelled",
            facts([month], renewals: [renewal(of: "1", signed: at(2), on: false)]),
            [(at(30, -1), "yes active 4.0 ends"), (at(30), "no expired -5.0 ends cancelled")]),
        Example(
            "A payment is retried: it may go on",
            facts(
                [month], renewals: [renewal(of: "1", signed: at(30)) { $0.isInBillingRetry = true }]
            ),
            [(at(30), "no retry -1.0 renews"), (at(80), "no retry -1.0 renews")]),
        Example(
            "and it may not, once it was cancelled meanwhile",
            facts(
                [month],
                renewals: [
                    renewal(of: "1", signed: at(30), on: false) { $0.isInBillingRetry = true }
                ]),
            [(at(30), "no retry -1.0 ends")]),
        Example(
            "The retries ran out",
            facts(
                [month],
                renewals: [
                    renewal(of: "1", signed: at(30)) { $0.isInBillingRetry = true },
                    renewal(of: "1", signed: at(90)) { $0.expirationIntent = .billingError },
                ]),
            [(at(90), "no expired -2.0 ends billing")]),
        Example(
            "A higher price was not agreed to, though renewal is on",
            facts(
                [month],
                renewals: [
                    renewal(of: "1", signed: at(30)) {
                        $0.expirationIntent = .priceIncreaseRefused
                    }
                ]),
            [(at(30), "no expired -3.0 ends price")]),
        Example(
            "It is not sold any more, though renewal is on",
            facts(
                [month],
                renewals: [
                    renewal(of: "1", signed: at(30)) { $0.expirationIntent = .productUnavailable }
                ]),
            [(at(30), "no expired -4.0 ends product")]),
        Example(
            "It was taken back, though renewal is on",
            facts(
                [
                    transaction("1", "pro", .autoRenewable, at(0), to: at(30), signed: at(9)) {
                        $0.revocation = refund(at: at(8))
                    }
                ], renewals: [renewal(of: "1", signed: at(2))]),
            [(at(8, -1), "yes active 5.0 renews"), (at(8), "no revoked -8.0 ends")]),
        Example(
            "The grace ended without a payment",
            facts(
                [month],
                renewals: [renewal(of: "1", signed: at(30)) { $0.graceUntil = at(46) }]),
            [(at(46, -1), "yes grace 1.0 renews"), (at(46), "no expired 0.0 ends")]),
    ]

    @Test("One that ended does not renew unless a payment is retried", arguments: ends)
    func ended(_ example: Example) {
        let state = CustomerState(recording: [example.evidence])
        for (instant, expected) in example.answers {
            let answer = state.entitlements(at: instant, catalog: shop)[id("pro")]
            #expect(RenewalTests.text(answer) == expected, "\(instant.text)")
            let status = state.subscriptions(at: instant, catalog: shop).first
            #expect(status?.willRenew == answer?.willRenew)
        }
    }

    private static func text(_ answer: Entitlement?) -> String {
        let reason: String? =
            switch answer?.expirationReason {
            case .cancelled: "cancelled"
            case .billingError: "billing"
            case .priceIncreaseRefused: "price"
            case .productUnavailable: "product"
            case .other, .unknown: "other"
            case nil: nil
            }
        let parts = [WorkedExample.text(answer), answer?.willRenew == true ? "renews" : "ends", reason]
        return parts.compactMap(\.self).joined(separator: " ")
    }
}
