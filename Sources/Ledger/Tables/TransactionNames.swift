import Core

extension Table {
    /// Transaction names that lead to a holder. Excludes the purchase's own id, which `holders`
    /// already contains. Includes purchase tokens other than a purchase's first one.
    static let transactionNames = Table(
        "transaction_names",
        [
            .text("project"), .text("environment"), .text("store"), .text("app"),
            .text("original"), .text("transaction_id"), .text("customer").owner,
            .text("line_item"),
        ], key: ["transaction_id", "project", "environment", "store", "app", "original"],
        source: RowSource { origin in
            origin.customer.purchases.flatMap(\.transactionNames)
        } eachChangedBy: { event, origin in
            origin.customer.names(changedBy: event)
        } name: { name, origin in
            [
                .text(name.purchase.store.rawValue), .text(name.app.text),
                .text(name.purchase.original.text), .text(name.transaction.text),
                .text(origin.stream.customer.text),
            ]
        } cells: { name, _ in
            name.isNeeded ? [.text(name.lineItem)] : nil
        })
}

/// The names of a transaction.
private struct TransactionName: Hashable {
    let app: AppID
    let purchase: PurchaseID
    let transaction: TransactionID
    let lineItem: String?

    /// Uses the line item of a receipt unless a signed statement has one.
    init(_ evidence: TransactionEvidence, in purchase: PurchaseID) {
        let fact = evidence.effective
        (app, self.purchase, transaction) = (fact.app, purchase, fact.transaction)
        lineItem = fact.lineItem ?? evidence.legacy?.lineItem
    }

    /// Creates a name that is a purchase token.
    init(_ token: TransactionID, in purchase: PurchaseID, of app: AppID) {
        (self.app, self.purchase, transaction, lineItem) = (app, purchase, token, nil)
    }

    /// Whether the transaction needs a row because it has a name other than the purchase's.
    var isNeeded: Bool { transaction != purchase.original || lineItem != nil }
}

extension Purchase {
    /// The transactions under each name that the purchase has ever had, because a row under a
    /// former name also leads to the purchase.
    fileprivate var transactionNames: [TransactionName] {
        allIDs.flatMap { transactionNames(under: $0) }
    }

    private func transactionNames(under id: PurchaseID) -> [TransactionName] {
        let transactions = evidence.map { TransactionName($0, in: id) }
        guard let app = readings.last?.app else { return transactions }
        return transactions
            + tokenNames.filter { $0 != id.original }.map { TransactionName($0, in: id, of: app) }
    }
}

extension CustomerState {
    /// Names that an event may have changed, if their transactions still exist.
    fileprivate func names(changedBy event: Event) -> [TransactionName] {
        if case .purchaseAttached(let attached) = event {
            return purchase(attached.purchase)?.transactionNames.filter(\.isNeeded) ?? []
        }
        guard let fact = event.transactionFact else { return [] }
        if fact.reading != nil { return purchase(fact.purchase)?.transactionNames ?? [] }
        guard let evidence = purchase(fact.purchase)?.evidence.last(where: { $0.isOf(fact) })
        else { return [] }
        let name = TransactionName(evidence, in: fact.purchase)
        // The first fact about a transaction never has an earlier row to remove.
        if case .purchaseMade = event, !name.isNeeded { return [] }
        return [name]
    }
}

extension TransactionEvidence {
    fileprivate func isOf(_ fact: TransactionFact) -> Bool {
        switch self {
        case .signed(let known), .legacy(let known), .both(let known, _):
            known.transaction == fact.transaction
        }
    }
}
