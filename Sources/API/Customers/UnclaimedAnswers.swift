import Core
package import JSON
package import Service

extension UnclaimedListAnswer {
    /// The answer to `GET /v1/unclaimed`.
    package var json: JSON {
        [
            "project": .string(project.text), "environment": .string(environment.rawValue),
            "purchases": .array(purchases.map(\.json)),
            "next": .optional(next?.description),
        ]
    }
}

extension UnclaimedAnswer {
    /// The purchase as it appears in a customer's answer, with its account tokens and the instant
    /// at which it began to wait.
    package var json: JSON {
        (purchase.json(by: catalog) ?? ["purchase": .string(purchase.id.description)])
            .with("since", .instant(since)).with("tokens", .array(tokens.map(JSON.string)))
    }

    /// The answer to `GET /v1/unclaimed/{p}`, with all of its transactions.
    package var wholeJSON: JSON {
        json.with("history", .array(purchase.evidence.map(\.effective.json)))
    }
}

extension TransactionFact {
    fileprivate var json: JSON {
        [
            "transaction": .string(transaction.text), "product": .string(product.text),
            "purchased": .instant(purchased), "expires": .instant(expires),
            "revoked_at": .instant(revocation?.at), "quantity": .integer(quantity),
            "account_token": .optional(accountToken),
        ]
    }
}
