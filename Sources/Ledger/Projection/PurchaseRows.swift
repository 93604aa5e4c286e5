import Core
import JSON
import Postgres
import SQL

/// Rows of `deed.purchases`.
struct PurchaseRows {
    private struct Row {
        let stream: Stream
        let purchase: Purchase
        /// The transaction that began last: it names product, dates and fate.
        let newest: TransactionFact
        let kind: ProductKind?
    }
    private var keyed = KeyedRows<Owned<PurchaseID>, Row>()
    private var gone: [Owned<PurchaseID>] = []

    mutating func add(_ purchase: Purchase?, of stream: Stream, by catalog: Catalog) {
        guard let purchase, let newest = purchase.newest else { return }
        keyed.set(
            Owned(stream: stream, thing: purchase.id),
            Row(
                stream: stream, purchase: purchase, newest: newest,
                kind: purchase.kind(by: catalog)))
    }

    mutating func remove(_ purchase: PurchaseID, of stream: Stream) {
        let owned = Owned(stream: stream, thing: purchase)
        keyed.remove(owned)
        gone.append(owned)
    }

    var calls: [Call] {
        var calls: [Call] = []
        if !gone.isEmpty {
            calls.append(
                Statement.unprojectPurchases(
                    gone.map(\.stream), .texts(gone.map(\.thing.store.rawValue)),
                    .texts(gone.map(\.thing.original.text))))
        }
        if !keyed.isEmpty { calls.append(purchasesCall) }
        return calls
    }

    private var purchasesCall: Call {
        let rows = keyed.rows
        let facts = rows.map(\.newest)
        let renewals = rows.map(\.purchase.renewal)
        return Statement.projectPurchases(
            rows.map(\.stream),
            .texts(rows.map(\.purchase.id.store.rawValue)),
            .texts(rows.map(\.purchase.id.original.text)),
            .texts(facts.map(\.app.text)),
            .texts(rows.map { $0.kind?.rawValue }),
            .texts(facts.map(\.product.text)),
            .int8s(facts.map(\.purchased.milliseconds)),
            .optionalInt8s(facts.map { $0.expires?.milliseconds }),
            .optionalInt8s(facts.map { $0.revocation?.at.milliseconds }),
            .bools(facts.map(\.isUpgraded)),
            .bools(renewals.map { $0?.willRenew }),
            .texts(renewals.map { $0?.nextProduct?.text }),
            .bools(renewals.map { $0?.isInBillingRetry }),
            .optionalInt8s(renewals.map { $0?.graceUntil?.milliseconds }),
            .texts(rows.map { transactionsText($0.purchase) }))
    }
}

/// The purchase's transactions in order, in the members that `deed.transactions` makes columns of.
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
        // As without it for most.
        "ownership": fact.ownership == .purchased ? nil : .text(fact.ownership.word),
        "revoked": .instant(revocation?.at), "revoked_because": .text(revocation?.reason?.word),
        "revoked_extent": .text(revocation?.extent?.word),
        "revoked_milli_percent": .number(revocation?.milliPercent),
        "evidence": .string(fact.rank.word), "signed": .instant(fact.signedAt),
    ])
}

extension WordCodable {
    /// Its word, or the store's own value behind `unknown_`.
    fileprivate var word: String {
        unknown.map { "unknown_\($0)" } ?? Self.words.first { $0.value == self }?.word ?? "unknown"
    }
}
