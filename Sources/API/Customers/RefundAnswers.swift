package import Core
package import JSON
package import Service

extension RefundRequestsAnswer {
    /// The answer to `GET /v1/refund_requests`.
    package var json: JSON {
        let list: JSON = [
            "project": .string(project.text), "environment": .string(environment.rawValue),
            "at": .instant(at), "requests": .array(requests.map(\.json)),
            "next": .optional(next?.text),
        ]
        return list.with("unread", unread > 0 ? .integer(unread) : nil)
    }
}

extension RefundRequest {
    package var json: JSON {
        [
            "id": .string(fact.id.text), "customer": .optional(customer?.text),
            "purchase": .string(fact.purchase.description), "app": .string(fact.app.text),
            "transaction": .string(fact.transaction.text), "product": .optional(product?.text),
            "kind": .optional(consumption.kind?.rawValue), "reason": .optional(fact.reasonName),
            "requested_at": .instant(fact.signedAt), "answer_by": .instant(fact.answerBy),
            "delivered": consumption.isDelivered.map(JSON.bool) ?? .null,
            "used_milli_percent": consumption.usedMilliPercent.map(JSON.integer) ?? .null,
        ]
    }
}

extension AccountAnswer {
    /// The answer to `GET /v1/app_transactions/{id}`.
    package var json: JSON {
        [
            "app_transaction": .string(account.text),
            "environment": .string(environment.rawValue),
            "customers": .array(customers.map { .string($0.text) }),
        ]
    }
}

extension RefundFact {
    package var reasonName: String? {
        guard case .requested(let reason?) = stage else { return nil }
        return switch reason {
        case .unintendedPurchase: "unintended_purchase"
        case .fulfillmentIssue: "fulfillment_issue"
        case .unsatisfied: "unsatisfied"
        case .legal: "legal"
        case .other: "other"
        case .unknown(let word): "unknown_\(word)"
        }
    }
}

extension RefundPlace {
    /// The place in the format of `next` and `after`.
    package var text: String { "\(answerBy.milliseconds):\(customer)" }

    package init?(_ text: String) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let milliseconds = Int64(parts[0]),
            let customer = try? CustomerID(String(parts[1]))
        else { return nil }
        self.init(answerBy: Instant(milliseconds: milliseconds), customer: customer)
    }
}
