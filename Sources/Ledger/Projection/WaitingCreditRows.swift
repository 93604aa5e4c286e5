import Core
import Postgres
import SQL

/// Rows of `deed.waiting_credits`: transactions that may add to a balance and were recorded while the
/// catalog did not know their product.
struct WaitingCreditRows {
    private struct Row {
        let stream: Stream
        let credit: WaitingCredit
    }
    private var keyed = KeyedRows<Owned<WaitingCredit>, Row>()

    /// Notes what an event names for the first time, unless the catalog of that moment knows it.
    /// What no customer claimed waits for a customer first of all.
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
        guard fact.kind ?? .consumable == .consumable, fact.expires == nil else { return }
        guard let product = fact.unknownProduct(by: catalog) else { return }
        add(
            WaitingCredit(
                purchase: fact.purchase, transaction: fact.transaction, product: product.id),
            of: stream)
    }

    mutating func add(_ credit: WaitingCredit, of stream: Stream) {
        keyed.set(
            Owned(stream: stream, thing: credit), Row(stream: stream, credit: credit))
    }

    var credits: [WaitingCredit] { keyed.rows.map(\.credit) }

    /// Without those of customers who were erased.
    func calls(erased: [Stream]) -> [Call] {
        let rows = keyed.rows.filter { !erased.contains($0.stream) }
        if rows.isEmpty { return [] }
        let credits = rows.map(\.credit)
        return [
            Statement.projectWaitingCredits(
                rows.map(\.stream),
                .texts(credits.map(\.purchase.store.rawValue)),
                .texts(credits.map(\.purchase.original.text)),
                .texts(credits.map(\.transaction.text)), .texts(credits.map(\.product.text)))
        ]
    }
}
