import Core
import JSON

extension Table {
    static let purchases = Table(
        "purchases",
        Column.ofStream + [
            .text("store"), .text("original"), .text("app"), .text("kind").byCatalog,
            .text("product"), .instant("purchased_at"), .instant("expires_at"),
            .instant("revoked_at"), .flag("is_upgraded"), .flag("will_renew"),
            .text("next_product"), .flag("in_billing_retry"), .instant("grace_until"),
            .json("transactions").byCatalog, .instant("blocked_at"),
        ], key: streamKey + ["store", "original"],
        source: RowSource { origin in
            origin.customer.purchases.map(\.id)
        } eachChangedBy: { event, origin in
            guard let id = event.changedPurchase else { return [] }
            return [id] + (origin.customer.purchase(id)?.allIDs ?? [])
        } name: { id, _ in
            [.text(id.store.rawValue), .text(id.original.text)]
        } cells: { id, origin in
            // The most recently started transaction determines the product, dates and state.
            guard let purchase = origin.customer.purchase(id), purchase.id == id,
                let newest = purchase.newest
            else { return nil }
            let renewal = purchase.renewal
            return [
                .text(newest.app.text),
                .text(purchase.kind(by: origin.project.catalog)?.rawValue),
                .text(newest.product.text), .instant(newest.purchased), .instant(newest.expires),
                .instant(newest.revocation?.at), .flag(newest.isUpgraded),
                .flag(renewal?.willRenew), .text(renewal?.nextProduct?.text),
                .flag(renewal?.isInBillingRetry), .instant(renewal?.graceUntil),
                .text(transactionsText(purchase)), .instant(purchase.block?.since),
            ]
        })
}

extension Event {
    /// The purchase that was attached or detached, or that the event's fact is about.
    var changedPurchase: PurchaseID? {
        switch self {
        case .purchaseAttached(let attached): attached.purchase
        case .purchaseDetached(let detached): detached.purchase
        case .purchaseBlocked(let change), .purchaseUnblocked(let change): change.purchase
        default: statedPurchase?.purchase
        }
    }
}

/// Returns the purchase's transactions in order, with the members that become columns of `deed.transactions`.
private func transactionsText(_ purchase: Purchase) -> String {
    JSON.array(
        purchase.evidence.enumerated().map { index, evidence in
            row(of: evidence.effective, isReplaced: purchase.isReplaced(at: index))
        }
    ).text
}

private func row(of fact: TransactionFact, isReplaced: Bool) -> JSON {
    let (offer, revocation) = (fact.offer, fact.revocation)
    return .members([
        "transaction": .id(fact.transaction), "product": .id(fact.product),
        "purchased": .instant(fact.purchased), "expires": .instant(fact.expires),
        "upgraded": .flag(isReplaced), "quantity": .integer(fact.quantity),
        "price": .number(fact.price?.milliunits), "currency": .text(fact.price?.currency),
        "offer": .text(offer?.kind?.word), "discount": .text(offer?.discount?.word),
        "offer_id": .text(offer?.identifier), "offer_period": .text(offer?.period),
        // Omitted for the most common value.
        "ownership": fact.ownership == .purchased ? nil : .text(fact.ownership.word),
        "revoked": .instant(revocation?.at), "revoked_because": .text(revocation?.reason?.word),
        "revoked_extent": .text(revocation?.extent?.word),
        "revoked_milli_percent": .number(revocation?.milliPercent),
        "evidence": .string(fact.rank.word), "signed": .instant(fact.signedAt),
    ])
}

extension WordCodable {
    /// The word for the value, or `unknown_` followed by the store's own value.
    fileprivate var word: String {
        unknown.map { "unknown_\($0)" } ?? Self.words.first { $0.value == self }?.word ?? "unknown"
    }
}
