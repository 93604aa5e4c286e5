import Core
package import JSON
package import Service

extension UnclaimedListAnswer {
    /// `GET /v1/unclaimed`
    package var json: JSON {
        [
            "project": .string(project.text), "environment": .string(environment.rawValue),
            "purchases": .array(purchases.map(\.json)),
            "next": .optional(next?.description),
        ]
    }
}

extension UnclaimedAnswer {
    /// The purchase as a customer's answer shows it, since when it waits and under which tokens.
    package var json: JSON { .object(object) }

    private var object: JSONObject {
        var object = purchase.json(by: catalog)?.object ?? JSONObject()
        if object["purchase"] == nil {
            object.append("purchase", .string(purchase.id.description))
        }
        object.append("since", .instant(since))
        object.append("tokens", .array(tokens.map(JSON.string)))
        return object
    }

    /// `GET /v1/unclaimed/{p}`: with each of its transactions.
    package var wholeJSON: JSON {
        var object = object
        object.append("history", .array(purchase.evidence.map(\.effective.json)))
        return .object(object)
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
