import Core

extension Table {
    /// The names of transactions that lead to a holder and are not the purchase's own id, which `holders` has.
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

/// What a transaction is called.
private struct TransactionName: Hashable {
    let app: AppID
    let purchase: PurchaseID
    let transaction: TransactionID
    let lineItem: String?

    /// What receipts say counts where nothing that is signed says otherwise.
    init(_ evidence: TransactionEvidence, in purchase: PurchaseID) {
        let fact = evidence.effective
        (app, self.purchase, transaction) = (fact.app, purchase, fact.transaction)
        lineItem = fact.lineItem ?? evidence.legacy?.lineItem
    }

    /// Whether it has a name that is not the purchase's.
    var isNeeded: Bool { transaction != purchase.original || lineItem != nil }
}

extension Purchase {
    fileprivate var transactionNames: [TransactionName] {
        evidence.map { TransactionName($0, in: id) }
    }
}

extension CustomerState {
    /// The names that an event may have changed, of what is still here.
    fileprivate func names(changedBy event: Event) -> [TransactionName] {
        if case .purchaseAttached(let attached) = event {
            return purchase(attached.purchase)?.transactionNames.filter(\.isNeeded) ?? []
        }
        guard let fact = event.transactionFact,
            let evidence = purchase(fact.purchase)?.evidence.last(where: { $0.isOf(fact) })
        else { return [] }
        let name = TransactionName(evidence, in: fact.purchase)
        // The first fact about a transaction finds no row of it.
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
