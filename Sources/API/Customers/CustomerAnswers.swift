import Core
package import JSON
package import Service

extension CustomerAnswer {
    /// `GET /v1/customers/{c}`: the entitlements as in their own call, and their sources.
    package var json: JSON {
        let at = entitlements.entitlements.at
        let (customer, catalog) = (view.customer, view.project.catalog)
        return entitlements.json
            .with("subscriptions", .array(subscriptions.map { $0.json(in: view.stream) }))
            .with("purchases", .array(customer.purchases.compactMap { $0.json(by: catalog) }))
            .with("grants", .array(customer.grantsJSON(by: catalog)))
            .with("balances", customer.balances.json)
            .with("sandbox_balances", view.sandboxBalances?.json)
            .with("orders", .array(customer.orders.map { $0.json(at: at) }))
    }
}

extension SubscriptionStatus {
    fileprivate func json(in stream: Stream) -> JSON {
        let json: JSON = [
            "purchase": .string(purchase.description), "product": .string(product.text),
            "kind": .string(kind.rawValue), "group": .optional(group),
            "current": .bool(isCurrent), "active": .bool(isActive),
            "since": .instant(run.start), "until": .instant(run.end),
            "state": .string(state.rawValue), "code": .string(code),
            "will_renew": .bool(willRenew), "next_product": .optional(nextProduct?.text),
            "expiration_reason": .optional(expirationReason?.name),
            "sandbox": .bool(isSandbox || stream.environment == .sandbox),
        ]
        return json.with("commitment", commitment?.json)
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
    /// Returns the purchase as its newest transaction describes it.
    func json(by catalog: Catalog) -> JSON? {
        guard let newest, let first = evidence.first?.effective else { return nil }
        let json: JSON = [
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
        return json.with("blocked_at", block.map { .instant($0.since) })
            .with("previous", newest.previous.map { .string($0.description) })
            .marked(newest.transaction)
    }
}

extension JSON {
    /// Adds a mark to a transaction that was made with Xcode on a developer's machine.
    func marked(_ transaction: TransactionID) -> JSON {
        with("xcode", transaction.isOfXcode ? true : nil)
    }
}

extension CustomerState {
    fileprivate func grantsJSON(by catalog: Catalog) -> [JSON] {
        zip(grants, grantBounds(by: catalog)).map { $0.json($1) }
    }
}

extension Grant {
    func json(_ bounds: GrantBounds) -> JSON {
        let json: JSON = [
            "id": .string(id.text), "entitlement": .string(given.entitlement.text),
            "start": .instant(bounds.start), "end": .instant(bounds.end),
            "reason": .string(given.reason.text), "ticket": .optional(given.ticket?.text),
            "revoked_at": .instant(revocation?.at),
        ]
        return json.with("after_current", waits ? true : nil)
    }
}

extension Balances {
    var json: JSON {
        .object(each: currencies) { ($0.text, .integer(self[$0])) }
    }
}
