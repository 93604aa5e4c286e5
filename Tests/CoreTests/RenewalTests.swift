import Core
import Histories
import Testing

/// Tests whether a subscription will renew, and why it may not. Days count from 1 January 2026.
@Suite("What a subscription will do")
struct RenewalTests {
    /// An example, and the answers about `pro` at some moments: whether it is active, its state,
    /// whether it renews, and why it ended.
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

    /// Returns a refund of the newest period after its end. We assume that the store then also
    /// calls the subscription revoked. Its pages say this only about a current period.
    private static func refunded(on day: Int64) -> TransactionFact {
        transaction("1", "pro", .autoRenewable, at(0), to: at(30), signed: at(day + 1)) {
            $0.revocation = refund(at: at(day))
        }
    }

    static let lateRefunds: [Example] = [
        Example(
            "A refund while a payment is retried ends the retries, though the store said no more of it",
            facts(
                [refunded(on: 36)],
                renewals: [renewal(of: "1", signed: at(30)) { $0.isInBillingRetry = true }]),
            [(at(36), "no revoked -8.0 ends")]),
        Example(
            "A refund in a grace of which no word came",
            facts([refunded(on: 40)]),
            [
                (at(30, -1), "yes active 5.0 renews"), (at(40), "no revoked -8.0 ends"),
            ]),
        Example(
            "A refund after the grace",
            facts(
                [refunded(on: 50)],
                renewals: [renewal(of: "1", signed: at(30)) { $0.graceUntil = at(46) }]),
            [(at(46, -1), "yes grace 1.0 renews"), (at(50), "no revoked -8.0 ends")]),
        Example(
            "A refund of a period that another one followed changes nothing",
            facts([
                refunded(on: 50),
                transaction("2", of: "1", "pro", .autoRenewable, at(30), to: at(60)),
            ]),
            [(at(50), "yes active 5.0 renews"), (at(60), "no expired 0.0 ends")]),
    ]

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

    /// Returns twelve months of thirty days each, of which some are paid.
    static func commitment(_ months: ClosedRange<Int64>) -> [TransactionFact] {
        months.map { month in
            transaction(
                "\(month)", of: "1", "pro", .autoRenewable, at(30 * (month - 1)),
                to: at(30 * month)
            ) { $0.commitment = Commitment(period: month, periods: 12, ends: at(360)) }
        }
    }

    private static func cancelled(on day: Int64) -> RenewalFact {
        renewal(of: "1", signed: at(day)) { $0.willCommitAgain = false }
    }

    static let commitments: [Example] = [
        Example(
            "Access follows the month that was paid, not the commitment",
            facts(commitment(1...3)),
            [(at(90, -1), "yes active 5.0 renews"), (at(90), "no expired 0.0 ends")]),
        Example(
            "Who cancels it pays to its end",
            facts(commitment(1...5), renewals: [cancelled(on: 125)]),
            [(at(130), "yes active 5.0 renews"), (at(150, -1), "yes active 5.0 renews")]),
        Example(
            "and then it ends",
            facts(commitment(1...12), renewals: [cancelled(on: 125), cancelled(on: 331)]),
            [
                (at(330, -1), "yes active 5.0 renews"), (at(340), "yes active 4.0 ends"),
                (at(360), "no expired 0.0 ends"),
            ]),
        Example(
            "Uncancelled, another one follows it",
            facts(
                commitment(1...12),
                renewals: [renewal(of: "1", signed: at(331)) { $0.willCommitAgain = true }]),
            [(at(340), "yes active 5.0 renews")]),
        Example(
            "A month that could not be paid ends access without a grace",
            facts(
                commitment(1...2),
                renewals: [renewal(of: "1", signed: at(60)) { $0.isInBillingRetry = true }]),
            [
                (at(60, -1), "yes active 5.0 renews"), (at(60), "no retry -1.0 renews"),
                (at(149), "no retry -1.0 renews"),
            ]),
        Example(
            "A payment after eighty-five days brings it back, and its end is later",
            facts(
                commitment(1...2) + [
                    transaction("3", of: "1", "pro", .autoRenewable, at(145), to: at(175)) {
                        $0.commitment = Commitment(period: 3, periods: 12, ends: at(445))
                    }
                ],
                renewals: [
                    renewal(of: "1", signed: at(60)) { $0.isInBillingRetry = true },
                    renewal(of: "1", signed: at(145)),
                ]),
            [(at(145, -1), "no upcoming 0.0 renews"), (at(145), "yes active 5.0 renews")]),
        Example(
            "A refund of an earlier month takes that month alone",
            facts(
                commitment(1...3)
                    + [
                        transaction(
                            "2", of: "1", "pro", .autoRenewable, at(30), to: at(60), signed: at(70)
                        ) {
                            $0.commitment = Commitment(period: 2, periods: 12, ends: at(360))
                            $0.revocation = refund(at: at(70))
                        }
                    ], renewals: [renewal(of: "1", signed: at(61))]),
            [(at(70), "yes active 5.0 renews"), (at(90, -1), "yes active 5.0 renews")]),
        Example(
            "A refund of the present month ends it",
            facts(
                commitment(1...2)
                    + [
                        transaction(
                            "3", of: "1", "pro", .autoRenewable, at(60), to: at(90), signed: at(70)
                        ) {
                            $0.commitment = Commitment(period: 3, periods: 12, ends: at(360))
                            $0.revocation = refund(at: at(70), .prorated, milliPercent: 66_666)
                        }
                    ], renewals: [renewal(of: "1", signed: at(61))]),
            [(at(70, -1), "yes active 5.0 renews"), (at(70), "no revoked -8.0 ends")]),
    ]

    @Test("Commitments to twelve months", arguments: commitments)
    func commitment(_ example: Example) { ended(example) }

    @Test(
        "A subscription that ended renews only by a retried payment", arguments: ends + lateRefunds)
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
            case .store(.cancelled): "cancelled"
            case .store(.billingError): "billing"
            case .store(.priceIncreaseRefused): "price"
            case .store(.productUnavailable): "product"
            case .store(.other), .store(.unknown), .blocked: "other"
            case nil: nil
            }
        let parts = [
            WorkedExample.text(answer), answer?.willRenew == true ? "renews" : "ends", reason,
        ]
        return parts.compactMap(\.self).joined(separator: " ")
    }
}
