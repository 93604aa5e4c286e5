package import Core
package import JSON
package import Service
import Wording

extension SubmissionAnswer {
    /// The log position up to which the answer is current.
    package var position: Position { entitlements.position }

    /// The answer to `POST /v1/customers/{c}/receipts` and `…/restore`.
    package var json: JSON {
        let head: JSON = ["items": .array(items.map(\.json))]
        return head.followed(by: entitlements.json)
            .with("balances", balances.json)
            .with("sandbox_balances", sandboxBalances?.json)
            .with("order", order?.json(at: entitlements.entitlements.at))
    }
}

extension SubmittedItem {
    package var json: JSON {
        var object = JSONObject()
        object.append("index", .integer(index))
        object.append("outcome", .string(result.word))
        if let otherEnvironment {
            object.append("environment", .string(otherEnvironment.rawValue))
        }
        if let purchase { object.append("purchase", .string(purchase.description)) }
        // To finish the transaction, the app needs the id that the device knows.
        if let transaction { object.append("transaction", .string(transaction.onDevice)) }
        switch result {
        case .believed(.recorded), .believed(.alreadyKnown): break
        case .believed(.alreadySettled(let order)): object.append("order", .string(order.text))
        case .undecided(let intake): object.append("intake", .string(intake.text))
        case .believed(.refused(let refusal)):
            object.append("code", .string(refusal.code))
            object.append("detail", .string(refusal.withRemedy))
            if refusal == .move(.accountShared) { object.append("retryable", false) }
        case .refused(let refused):
            object.append("code", .string(refused.code))
            object.append("detail", .string(refused.sentence))
            object.append("retryable", .bool(refused.cure != .none))
        }
        if let unknownProduct {
            object.append("warning", "product_unknown")
            object.append("product", .string(unknownProduct.id.text))
        }
        return transaction.map(JSON.object(object).marked) ?? .object(object)
    }
}

extension NotificationAnswer {
    /// The answer to `POST /v1/stores/apple/notifications`.
    package var json: JSON {
        switch self {
        case .kept(let notification, let environment, let isNew):
            [
                "notification": .string(notification.id), "type": .string(notification.type),
                "environment": .string(environment.rawValue),
                "outcome": isNew ? "recorded" : "already_known",
            ]
        case .erased(let notification, let environment):
            [
                "notification": .string(notification.id), "type": .string(notification.type),
                "environment": .string(environment.rawValue),
                "outcome": .string(Refusal.erasure(.purchaseErased).code),
            ]
        case .queued(let intake): ["outcome": "queued", "intake": .string(intake.text)]
        }
    }
}
