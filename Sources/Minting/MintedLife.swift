package import Core
internal import JSON

/// Twelve steps in the life of a subscription and a few coin purchases, each with its evidence.
package struct MintedLife: Sendable {
    /// A piece of evidence that arrives. A customer's back end submits it, or the store posts it if
    /// the delivery has no customer.
    package struct Delivery: Sendable {
        package let customer: String?
        package let body: String
    }

    private struct Step {
        let sale: Sale
        var renewal: RenewalPlan?
    }

    /// The number of transactions that the store creates.
    package static let transactions = 7
    /// The number of coins left at the end.
    package static let coins: Int64 = 100
    /// The number of days from before the first step until after the last one.
    package static let days: Int64 = 210

    package let customer: String
    private let store: MintedStore
    private let steps: [Step]

    package init(_ number: Int, from start: Instant, in store: MintedStore) {
        customer = "c\(number)"
        self.store = store
        steps = MintedLife.subscription(number, start) + MintedLife.coins(number, start)
    }

    private static func subscription(_ number: Int, _ start: Instant) -> [Step] {
        let day = { (count: Int64) in start.advanced(byMilliseconds: count * 86_400_000) }
        let original = "\(number)-1"
        func period(_ name: Int, _ first: Int64, signed: Int64? = nil) -> Sale {
            Sale(
                "\(number)-\(name)", of: original, "pro.month", .autoRenewable, at: day(first),
                until: day(first + 30)
            ).with { $0.signedAt = day(signed ?? first) }
        }
        func plan(_ signed: Int64, _ change: (inout RenewalPlan) -> Void = { _ in }) -> RenewalPlan
        {
            var plan = RenewalPlan(of: original, "pro.month", signed: day(signed))
            change(&plan)
            return plan
        }
        return [
            Step(sale: period(1, 0), renewal: plan(0)),
            Step(sale: period(2, 30), renewal: plan(30)),
            Step(sale: period(2, 30, signed: 35), renewal: plan(35) { $0.isOn = false }),
            Step(sale: period(2, 30, signed: 40), renewal: plan(40)),
            Step(
                sale: period(2, 30, signed: 60),
                renewal: plan(60) {
                    $0.isInRetry = true
                    $0.graceUntil = day(76)
                }),
            Step(sale: period(3, 66), renewal: plan(66)),
            Step(
                sale: period(3, 66, signed: 70).with { $0.refunded = day(70) }, renewal: plan(70)),
            Step(sale: period(3, 66, signed: 72), renewal: plan(72)),
            Step(sale: period(4, 96), renewal: plan(96)),
            Step(sale: period(4, 96, signed: 126), renewal: plan(126) { $0.isInRetry = true }),
            Step(sale: period(5, 140), renewal: plan(140)),
            Step(sale: period(5, 140, signed: 150), renewal: plan(150) { $0.isOn = false }),
        ]
    }

    /// Returns two purchases of a hundred coins each, one of which is refunded.
    private static func coins(_ number: Int, _ start: Instant) -> [Step] {
        let day = { (count: Int64) in start.advanced(byMilliseconds: count * 86_400_000) }
        let kept = Sale("\(number)-6", "coins.100", .consumable, at: day(10))
        let returned = Sale("\(number)-7", "coins.100", .consumable, at: day(20))
        let refund = returned.with {
            $0.signedAt = day(45)
            $0.refunded = day(44)
        }
        return [Step(sale: kept), Step(sale: returned), Step(sale: refund)]
    }

    /// Each step, delivered twice with identical signed bytes: by the client and by the store.
    package var deliveries: [Delivery] {
        steps.enumerated().flatMap { number, step in
            let signed = store.transaction(step.sale)
            let told = store.notification(
                step.renewal == nil ? "ONE_TIME_CHARGE" : "DID_RENEW", id: "\(customer)-\(number)",
                at: step.sale.signedAt, transaction: signed,
                renewal: step.renewal.map(store.renewal))
            let evidence: JSON = [
                "signed_transactions": [.string(signed)],
                "environment": .string(store.environment.lowercased()),
            ]
            return [
                Delivery(customer: customer, body: evidence.text),
                Delivery(customer: nil, body: told),
            ]
        }
    }
}
