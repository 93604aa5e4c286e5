import Core
package import JSON
package import Service

extension ExplanationAnswer {
    /// The answer to `GET /v1/customers/{c}/explain`.
    package var json: JSON {
        let json: JSON = [
            "customer": .string(stream.customer.text),
            "environment": .string(stream.environment.rawValue),
            "entitlement": .string(entitlement.text), "at": .instant(at),
            "position": .string(position.description),
            "next_change": .instant(explanation.nextChange),
            "answer": .object(explanation.answer.members(of: stream)),
            "words": .array(sentences.map(JSON.string)),
            "reasons": .array(explanation.reasons.map(\.json)),
            "ignored": .array(explanation.ignored.map(\.json)),
            "events": .array(events.map { $0.explainedJSON(actorNames) }),
        ]
        return json.with("merged_into", mergedInto.map { .string($0.text) })
    }
}

extension BalancesAnswer {
    /// The answer to `GET /v1/customers/{c}/balances`.
    package var json: JSON {
        let json: JSON = ["balances": balances.json]
        return .answer(
            about: stream, at: position,
            json.with("sandbox_balances", sandboxBalances?.json)
                .with("merged_into", mergedInto.map { .string($0.text) }))
    }
}

extension RecordedEvent {
    /// Returns who recorded the event, when, and the evidence or wish that caused it. The list of the customer's events
    /// has further details.
    fileprivate func explainedJSON(_ names: [Actor: String]) -> JSON {
        [
            "version": .integer(version), "environment": .string(stream.environment.rawValue),
            "type": .string(event.type.name), "about": .string(subject),
            "occurred_at": .instant(occurredAt), "recorded_at": .instant(recordedAt),
            "actor": .string(actor.text), "actor_name": .optional(names[actor]),
            "cause": .string(cause),
        ]
    }
}

extension JSONObject {
    /// Adds the source's kind and id.
    mutating func append(_ source: Entitlement.Source) {
        append("source", .string(source.name))
        switch source {
        case .purchase(let id): append("purchase", .string(id.description))
        case .grant(let id): append("grant", .string(id.text))
        case .originalAppVersion(let app): append("app", .string(app.text))
        }
    }
}

extension ExplainedRight {
    fileprivate var json: JSON {
        var object = JSONObject()
        object.append("rule", .string(rule.rawValue))
        object.append("holds", .bool(holds))
        object.append("start", .instant(interval.start))
        object.append("end", .instant(interval.end))
        object.append("cut", .optional(cut?.rawValue))
        object.append(source)
        object.append("product", .optional(product?.text))
        object.append("transactions", .array(transactions.map(\.json)))
        object.append("renewals", .array(renewals.map(\.json)))
        if !readings.isEmpty {
            object.append("readings", .array(readings.compactMap(\.readingJSON)))
        }
        return .object(object)
    }
}

extension TransactionFact {
    /// The members that the access rules use. The list of the customer's events has the complete fact.
    fileprivate var json: JSON {
        let json: JSON = [
            "transaction": .string(transaction.text), "product": .string(product.text),
            "kind": .optional(kind?.rawValue), "purchased": .instant(purchased),
            "expires": .instant(expires), "revoked_at": .instant(revocation?.at),
            "upgraded": .bool(isUpgraded), "family_shared": .bool(ownership == .familyShared),
            "sandbox": .bool(environment == .sandbox),
            "signed_at": .instant(signedAt), "evidence": .string(rank.word),
        ]
        return json.marked(transaction)
    }
}

extension TransactionFact {
    /// The store's answer to a query. It shows the token's name instead of the confidential token.
    fileprivate var readingJSON: JSON? {
        reading.map { reading in
            [
                "read_at": .instant(signedAt), "state": .string(reading.state.name),
                "token": .string(reading.tokenName.text),
                "items": .array(reading.items.map(\.json)),
            ]
        }
    }
}

extension Reading.Item {
    fileprivate var json: JSON {
        [
            "product": .string(product.text), "order": .optional(order?.text),
            "owned": .bool(isOwned), "expires": .instant(expires), "will_renew": .bool(willRenew),
        ]
    }
}

extension RenewalFact {
    fileprivate var json: JSON {
        [
            "will_renew": .bool(willRenew), "next_product": .optional(nextProduct?.text),
            "in_retry": .bool(isInBillingRetry), "grace_until": .instant(graceUntil),
            "expiration_reason": .optional(expirationIntent?.name),
            "signed_at": .instant(signedAt), "evidence": .string(rank.word),
        ]
    }
}

extension IgnoredPurchase {
    fileprivate var json: JSON {
        [
            "purchase": .string(purchase.description), "transaction": .string(transaction.text),
            "product": .string(product.text), "cause": .string(cause.rawValue),
        ]
    }
}
