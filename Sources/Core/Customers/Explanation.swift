/// Why a customer has or lacks an entitlement at one instant.
package struct Explanation: Hashable, Sendable {
    /// The answer to explain; `nil` if the customer never had a right to the entitlement.
    package let answer: Entitlement?
    /// Every right to the entitlement, past, present and upcoming, in the order of the rules.
    package let reasons: [ExplainedRight]
    /// Purchases that do not contribute to any entitlement, with the reason.
    package let ignored: [IgnoredPurchase]
    /// The next instant at which the answer may change.
    package let nextChange: Instant?
}

/// One right, with its rule, its boundaries and the facts behind it.
package struct ExplainedRight: Hashable, Sendable {
    package let rule: Rule
    package let source: Entitlement.Source
    package let product: ProductID?
    /// The boundaries of the access.
    package let interval: Interval
    /// The cause that ended the right early, if any.
    package let cut: Cut?
    /// Whether the right gives access at the instant.
    package let holds: Bool
    /// The stores' statements about the transaction, and about the renewal of the subscription.
    package let transactions: [TransactionFact]
    package let renewals: [RenewalFact]
    /// The answers from which the transactions are derived, if the store states the current state of its purchases.
    package let readings: [TransactionFact]
}

/// A purchase that does not unlock anything.
package struct IgnoredPurchase: Hashable, Sendable {
    package enum Cause: String, Hashable, Sendable, CaseIterable {
        case productNotInCatalog = "product_not_in_catalog"
        case familySharingNotAllowed = "family_sharing_not_allowed"
        case consumable
        case kindDiffersFromCatalog = "kind_differs_from_catalog"
    }
    package let purchase: PurchaseID
    package let transaction: TransactionID
    package let product: ProductID
    package let cause: Cause
}

extension CustomerState {
    /// Returns the facts, rules and boundaries behind the answer about one entitlement.
    package func explanation(
        of id: EntitlementID, at instant: Instant, catalog: Catalog
    ) -> Explanation {
        let rights = rights(by: catalog).filter {
            $0.unlocked(in: self, by: catalog).contains(id)
        }
        let boundaries = rights.map(\.interval).filter { !$0.isEmpty }
            .flatMap { [$0.start, $0.end].compactMap(\.self) }
        return Explanation(
            answer: entitlements(at: instant, catalog: catalog)[id],
            reasons: rights.map { explain($0, at: instant, by: catalog) },
            ignored: purchases.flatMap { $0.ignored(by: catalog) },
            nextChange: boundaries.filter { $0 > instant }.min())
    }

    private func explain(
        _ right: Right, at instant: Instant, by catalog: Catalog
    ) -> ExplainedRight {
        let (source, product, transactions, renewals) = origin(of: right, by: catalog)
        var readings: [TransactionFact] = []
        if case .transaction(let index, let place, _) = right.source {
            readings = purchases[place].readings(of: index)
        }
        return ExplainedRight(
            rule: right.rule, source: source, product: product, interval: right.interval,
            cut: right.cut, holds: right.interval.contains(instant), transactions: transactions,
            renewals: renewals, readings: readings)
    }

    private func origin(
        of right: Right, by catalog: Catalog
    ) -> (Entitlement.Source, ProductID?, [TransactionFact], [RenewalFact]) {
        switch right.source {
        case .grant(let index):
            return (.grant(grants[index].id), nil, [], [])
        case .app(let index, _):
            return (.originalAppVersion(apps[index].app), nil, [], [])
        case .transaction(let index, let place, _):
            let purchase = purchases[place]
            let facts =
                right.rule == .lifetime && !purchase.isRead
                ? purchase.evidence.flatMap(\.facts) : purchase.evidence[index].facts
            let isSubscription = right.rule == .period || right.rule == .grace
            return (
                .purchase(purchase.id),
                right.product.map { catalog.products[$0].key.id }
                    ?? purchase.products[purchase.transaction(behind: right, at: index).product],
                facts, isSubscription ? purchase.renewals(of: index) : []
            )
        }
    }
}

extension Purchase {
    fileprivate func ignored(by catalog: Catalog) -> [IgnoredPurchase] {
        transactions.indices.flatMap { index in
            let transaction = transactions[index]
            let items = items(of: index).map(\.product)
            let sold = items.isEmpty ? [products[transaction.product]] : items
            return sold.compactMap { product in
                cause(toIgnore: transaction, product, by: catalog).map {
                    IgnoredPurchase(
                        purchase: id, transaction: transactionIDs[index], product: product,
                        cause: $0)
                }
            }
        }
    }

    private func cause(
        toIgnore transaction: Transaction, _ product: ProductID, by catalog: Catalog
    ) -> IgnoredPurchase.Cause? {
        guard let known = catalog.product(ProductKey(store: id.store, id: product)) else {
            return .productNotInCatalog
        }
        let kind = isRead ? transaction.kind ?? known.kind : kind(by: catalog)
        if kind == .consumable { return .consumable }
        if transaction.isFamilyShared, !known.isFamilyShared { return .familySharingNotAllowed }
        let needsTerm = kind == .nonRenewing && known.kind != .nonRenewing
        return needsTerm || known.entitlements.isEmpty ? .kindDiffersFromCatalog : nil
    }
}

extension Event {
    /// Returns whether the event is about this source of a right and should appear in an explanation.
    package func isAbout(_ source: Entitlement.Source) -> Bool {
        switch (subject, source) {
        case (.grant(let id), .grant(let source)): id == source
        case (.installation(let app), .originalAppVersion(let source)): app == source
        case (.purchase(let id), .purchase(let source)): id == source && type.isExplained
        case (_, .grant), (_, .originalAppVersion), (_, .purchase): false
        }
    }
}
