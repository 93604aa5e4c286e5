import Core
import Postgres
import SQL

/// Rows of `deed.customer_balances`.
struct BalanceRows {
    private struct Row {
        let stream: Stream
        let currency: CurrencyID
        let amount: Int64
    }
    private var keyed = KeyedRows<Owned<CurrencyID>, Row>()

    mutating func add(_ currency: CurrencyID, _ customer: CustomerState, of stream: Stream) {
        // An erased customer has no balances, whatever moved before.
        guard customer.balances.currencies.contains(currency) else { return }
        keyed.set(
            Owned(stream: stream, thing: currency),
            Row(stream: stream, currency: currency, amount: customer.balances[currency]))
    }

    var calls: [Call] {
        if keyed.isEmpty { return [] }
        let rows = keyed.rows
        return [
            Statement.projectBalances(
                rows.map(\.stream), .texts(rows.map(\.currency.text)),
                .int8s(rows.map(\.amount)))
        ]
    }
}
