import Core
package import JSON
package import Service

extension CustomerAnswer {
    /// `GET /v1/customers/{c}`: the entitlements as they are answered alone, and what they rest on.
    package var json: JSON {
        var object = entitlements.json.object ?? JSONObject()
        let at = entitlements.entitlements.at
        let (customer, catalog) = (view.customer, view.project.catalog)
        object.append("subscriptions", .array(subscriptions.map { $0.json(in: view.stream) }))
        object.append(
            "purchases", .array(customer.purchases.compactMap { $0.json(by: catalog) }))
        object.append("grants", .array(customer.grants.map(\.json)))
        object.append("balances", customer.balances.json)
        if let balances = view.sandboxBalances {
            object.append("sandbox_balances", balances.json)
        }
        object.append("orders", .array(customer.orders.map { $0.json(at: at) }))
        return .object(object)
    }
}

extension SubscriptionStatus {
    fileprivate func json(in stream: Stream) -> JSON {
        let members: JSON = [
            "purchase": .string(purchase.description), "product": .string(product.text),
            "kind": .string(kind.rawValue), "group": .optional(group),
            "current": .bool(isCurrent), "active": .bool(isActive),
            "since": .instant(run.start), "until": .instant(run.end),
            "state": .string(state.rawValue), "code": .string(code),
            "will_renew": .bool(willRenew), "next_product": .optional(nextProduct?.text),
            "expiration_reason": .optional(expirationReason?.name),
            "sandbox": .bool(isSandbox || stream.environment == .sandbox),
        ]
        guard let commitment, var object = members.object else { return members }
        object.append("commitment", commitment.json)
        return .object(object)
    }
}

extension SubscriptionStatus.Committed {
    fileprivate var json: JSON {
        [
            "period": .integer(commitment.period), "periods": .integer(commitment.periods),
            "ends": .instant(commitment.ends), "renews": willCommitAgain.map(JSON.bool) ?? .null,
        ]
    }
}

extension Purchase {
    /// The purchase by its newest transaction.
    func json(by catalog: Catalog) -> JSON? {
        guard let newest, let first = evidence.first?.effective else {
            return nil
        }
        let members: JSON = [
            "purchase": .string(id.description), "app": .string(newest.app.text),
            "product": .string(newest.product.text),
            "kind": .optional(kind(by: catalog)?.rawValue),
            "purchased": .instant(first.purchased), "transaction": .string(newest.transaction.text),
            "transactions": .integer(evidence.count), "expires": .instant(newest.expires),
            "revoked_at": .instant(newest.revocation?.at),
            "family_shared": .bool(newest.ownership == .familyShared),
            "came_from": .optional(arrival?.from.text), "came_at": .instant(arrival?.at),
            "sandbox": .bool(newest.environment == .sandbox),
        ]
        guard let previous = newest.previous, var object = members.object else {
            return members.marked(newest.transaction)
        }
        object.append("previous", .string(previous.description))
        return JSON.object(object).marked(newest.transaction)
    }
}

extension JSON {
    /// With the mark of what Xcode signed on a developer's machine, where that made the transaction.
    func marked(_ transaction: TransactionID) -> JSON {
        guard transaction.isOfXcode, var object else { return self }
        object.append("xcode", true)
        return .object(object)
    }
}

extension Grant {
    var json: JSON {
        [
            "id": .string(id.text), "entitlement": .string(given.entitlement.text),
            "start": .instant(given.start), "end": .instant(given.end),
            "reason": .string(given.reason.text), "ticket": .optional(given.ticket?.text),
            "revoked_at": .instant(revocation?.at),
        ]
    }
}

extension Balances {
    var json: JSON {
        var amounts = JSONObject()
        for currency in currencies { amounts.append(currency.text, .integer(self[currency])) }
        return .object(amounts)
    }
}
