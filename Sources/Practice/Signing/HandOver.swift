internal import Core
package import JSON
internal import Minting

/// What an app gives its back end after a purchase or a restore.
package struct HandOver: Sendable {
    package let customer: String
    package let transaction: String?
    package let signedTransaction: String?
    package let signedRenewal: String?
    package let receipt: String
    package let appTransaction: String
    package let note: String?
    /// The notifications that the store has sent as a result.
    package var told: [Posting] = []

    package init(_ outcome: Outcome, in world: PracticeWorld, by authority: Authority) {
        let customer = outcome.customer ?? ""
        self.customer = customer
        transaction = outcome.transaction
        note = outcome.note
        let sale = outcome.transaction.flatMap(world.sale)
        signedTransaction = sale.map { authority.sign(world.payload(of: $0)) }
        let renewal = sale.flatMap { world.subscriptions[$0.original] }
        signedRenewal = renewal.map { authority.sign(world.payload(of: $0)) }
        receipt = world.receipt(of: customer, by: authority).base64
        appTransaction = authority.sign(world.appPayload(of: customer))
    }

    package var json: JSON {
        [
            "customer": .string(customer), "transaction": .optional(transaction),
            "signed_transaction": .optional(signedTransaction), "receipt": .string(receipt),
            "app_transaction": .string(appTransaction), "note": .optional(note),
            "notifications": .array(
                told.map { posting -> JSON in
                    [
                        "type": .string(posting.type), "subtype": .optional(posting.subtype),
                        "customer": .optional(posting.customer),
                        "result": .optional(posting.attempts.last?.result),
                    ]
                }),
        ]
    }
}
