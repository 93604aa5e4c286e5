package import Core
package import JSON

extension IntakeItem {
    /// Returns the answer to `GET /v1/intake/{id}`.
    package func json(_ names: [Actor: String]) -> JSON {
        [
            "intake": .string(id.text), "state": .string(state.word.rawValue),
            "purpose": .string(wish.purpose.word.rawValue),
            "customer": .optional(wish.purpose.customer?.text),
            "environment": .string(wish.heading.environment.rawValue),
            "app": .string(wish.heading.app.text), "kind": .string(wish.heading.kind),
            "order": .optional(wish.order?.text), "tries": .integer(tries),
            "next_try_at": .instant(nextTry), "code": .optional(reason?.code),
            "detail": .optional(reason?.sentence), "items": items,
            "acted_by": .optional(act?.actor.text),
            "acted_by_name": .optional(act.flatMap { names[$0.actor] }),
            "reason": .optional(act?.reason.text),
            "ticket": .optional(act?.ticket?.text), "added_at": .instant(addedAt),
            "changed_at": .instant(changedAt),
        ]
    }

    private var items: JSON {
        guard case .believed(let results) = state else { return .null }
        return .array(results.map(\.json))
    }
}

extension IntakeResult {
    package var json: JSON {
        let head: JSON = [
            "purchase": .optional(purchase), "transaction": .optional(transaction),
            "outcome": .string(outcome),
        ]
        return head.with("order", order.map(JSON.string))
            .with("code", .optional(reason?.code)).with("detail", .optional(reason?.sentence))
            .with("warning", unknownProduct.map { _ in "product_unknown" })
            .with("product", unknownProduct.map(JSON.string))
    }
}
