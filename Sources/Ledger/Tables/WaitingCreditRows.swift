import Core
import Postgres

extension Table {
    /// Transactions that may add to a balance but were recorded before the catalog knew their product.
    static let waitingCredits = Table(
        "waiting_credits",
        Column.ofStream + [
            .text("store"), .text("original"), .text("transaction_id"), .text("product"),
        ], key: streamKey + ["store", "original", "transaction_id"], writing: .once)
}

/// Rows of `waiting_credits`, determined while the catalog of the transactions' time is known.
struct WaitingCreditRows {
    private(set) var credits: [WaitingCredit] = []
    private var streams: [Stream] = []
    private var places: Set<Owned> = []

    private struct Owned: Hashable {
        let stream: Stream
        let credit: WaitingCredit
    }

    /// Records a transaction at its first event, unless the catalog of that time knows its product.
    /// An unclaimed purchase must first get a customer.
    mutating func add(_ event: Event, of stream: Stream, by catalog: Catalog) {
        if stream.customer.isReserved { return }
        switch event {
        case .purchaseMade(let fact): add(fact, stream, catalog)
        case .purchaseAttached(let attached):
            for fact in attached.transactions { add(fact, stream, catalog) }
        default: break
        }
    }

    private mutating func add(_ fact: TransactionFact, _ stream: Stream, _ catalog: Catalog) {
        if let credit = WaitingCredit(fact, by: catalog) { add(credit, of: stream) }
    }

    mutating func add(_ credit: WaitingCredit, of stream: Stream) {
        guard places.insert(Owned(stream: stream, credit: credit)).inserted else { return }
        credits.append(credit)
        streams.append(stream)
    }

    /// Returns the rows, except those of erased customers.
    func rows(erased: [Stream] = []) -> [Row] {
        zip(streams, credits).filter { !erased.contains($0.0) }.map { stream, credit in
            Table.waitingCredits.shape.lead(of: stream) + [
                .text(credit.purchase.store.rawValue), .text(credit.purchase.original.text),
                .text(credit.transaction.text), .text(credit.product.text),
            ]
        }
    }
}
