import Core
import JSON
import Minting
import TestSupport

struct AnsweredPurchase: Sendable {
    let customer: String
    let transaction: String
    /// Whether the last answer reports a new purchase.
    let isNew: Bool
}

typealias SubmissionWriters = Writers<AnsweredPurchase>

private let store = MintedStore(environment: "Sandbox")

extension Writers<AnsweredPurchase> {
    private static var customers: Int { 40 }

    /// Creates clients that submit one purchase after another. The store also reports two of every
    /// three, earlier or later.
    convenience init(_ service: String, key: String) throws {
        try self.init(24, at: service, key: key) { writers, client, index, number in
            try writers.submit(&client, index, number)
        }
    }

    private func submit(
        _ client: inout APIClient, _ index: Int, _ number: Int
    ) throws -> AnsweredPurchase? {
        let name = "\(index)-\(number)"
        let customer = "c\((index + number) % Self.customers)"
        let sale = Sale(name, "coins.100", .consumable, at: Payload.signedAt)
        let signed = store.transaction(sale)
        if number % 3 == 0 { tell(&client, name, signed) }
        let body: JSON = [
            "environment": "sandbox", "signed_transactions": [.string(signed)],
        ]
        let text = send(
            &client, "/v1/customers/\(customer)/receipts", body.text,
            number % 2 == 0 ? name : nil, expecting: 200)
        if number % 3 == 1 { tell(&client, name, signed) }
        guard let text else { return nil }
        let outcome = try JSON.read(text)["items"]?.array?.first?["outcome"]?.string
        guard outcome == "recorded" || outcome == "already_known" else {
            complain(text)
            return nil
        }
        return AnsweredPurchase(
            customer: customer, transaction: name, isNew: outcome == "recorded")
    }

    private func tell(_ client: inout APIClient, _ name: String, _ signed: String) {
        let body = store.notification(
            "ONE_TIME_CHARGE", id: name, at: Payload.signedAt, transaction: signed)
        _ = send(&client, "/v1/stores/apple/notifications", body, nil, expecting: 200)
    }
}
