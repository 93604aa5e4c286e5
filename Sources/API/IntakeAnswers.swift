package import Core
package import JSON

extension IntakeItem {
    /// `GET /v1/intake/{id}`
    package var json: JSON {
        var object = JSONObject()
        object.append("intake", .string(id.text))
        object.append("state", .string(state.word.rawValue))
        object.append("purpose", .string(wish.purpose.word.rawValue))
        object.append("customer", .optional(wish.purpose.customer?.text))
        object.append("environment", .string(wish.heading.environment.rawValue))
        object.append("app", .string(wish.heading.app.text))
        object.append("kind", .string(wish.heading.kind.rawValue))
        object.append("order", .optional(wish.order?.text))
        object.append("tries", .integer(tries))
        object.append("next_try_at", .instant(nextTry))
        object.append("code", .optional(reason?.code))
        object.append("detail", .optional(reason?.sentence))
        object.append("items", items)
        object.append("acted_by", .optional(act?.actor.text))
        object.append("reason", .optional(act?.reason.text))
        object.append("ticket", .optional(act?.ticket?.text))
        object.append("added_at", .instant(addedAt))
        object.append("changed_at", .instant(changedAt))
        return .object(object)
    }

    private var items: JSON {
        guard case .believed(let results) = state else { return .null }
        return .array(results.map(\.json))
    }
}

extension IntakeResult {
    package var json: JSON {
        var object = JSONObject()
        object.append("purchase", .optional(purchase))
        object.append("transaction", .optional(transaction))
        object.append("outcome", .string(outcome))
        if let order { object.append("order", .string(order)) }
        object.append("code", .optional(reason?.code))
        object.append("detail", .optional(reason?.sentence))
        if let unknownProduct {
            object.append("warning", "product_unknown")
            object.append("product", .string(unknownProduct))
        }
        return .object(object)
    }
}
