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
        guard let purchase, let newest = purchase.evidence.last?.effective else { return }
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

/// The purchase's transactions in order, in the members that `deed.transactions` makes columns of; one
/// that has nothing to say is left out. A long subscription writes all of it anew with each renewal, so
/// the text is put together without an object in between.
private func transactionsText(_ purchase: Purchase) -> String {
    var text: [UInt8] = [UInt8(ascii: "[")]
    text.reserveCapacity(320 * purchase.evidence.count + 2)
    for evidence in purchase.evidence {
        if text.count > 1 { text.append(UInt8(ascii: ",")) }
        append(evidence.effective, to: &text)
    }
    text.append(UInt8(ascii: "]"))
    return String(decoding: text, as: UTF8.self)
}

private func append(_ fact: TransactionFact, to text: inout [UInt8]) {
    text.append(text: "{\"transaction\":")
    JSON.write(fact.transaction.text, to: &text)
    text.append("product", fact.product.text)
    text.append("purchased", fact.purchased)
    text.append("expires", fact.expires)
    if fact.isUpgraded { text.append(text: ",\"upgraded\":true") }
    text.append("quantity", fact.quantity)
    text.append("price", fact.price?.milliunits)
    text.append("currency", fact.price?.currency)
    if let offer = fact.offer {
        text.append("offer", offer.kind?.word)
        text.append("discount", offer.discount?.word)
        text.append("offer_id", offer.identifier)
        text.append("offer_period", offer.period)
    }
    // As without it for most.
    if fact.ownership != .purchased { text.append("ownership", fact.ownership.word) }
    if let revocation = fact.revocation {
        text.append("revoked", revocation.at)
        text.append("revoked_because", revocation.reason?.word)
        text.append("revoked_extent", revocation.extent?.word)
        text.append("revoked_milli_percent", revocation.milliPercent)
    }
    text.append("evidence", fact.rank.word)
    text.append("signed", fact.signedAt)
    text.append(UInt8(ascii: "}"))
}

extension [UInt8] {
    fileprivate mutating func append(_ name: String, _ value: String?) {
        guard let value else { return }
        append(name: name)
        JSON.write(value, to: &self)
    }

    fileprivate mutating func append(_ name: String, _ value: Int64?) {
        guard let value else { return }
        append(name: name)
        append(text: String(value))
    }

    fileprivate mutating func append(_ name: String, _ value: Instant?) {
        guard let value else { return }
        append(name: name)
        append(UInt8(ascii: "\""))
        value.append(to: &self)
        append(UInt8(ascii: "\""))
    }

    /// The name of a member that stands behind another one.
    private mutating func append(name: String) {
        append(text: ",\"")
        append(text: name)
        append(text: "\":")
    }
}

extension WordCodable {
    /// Its word, or the store's own value behind `unknown_`.
    fileprivate var word: String {
        switch unknown {
        case .string(let raw): "unknown_\(raw)"
        case .some(let raw): "unknown_\(raw.text)"
        case nil: Self.words.first { $0.value == self }?.word ?? "unknown"
        }
    }
}
