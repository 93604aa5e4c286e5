import Core
import Postgres
import SQL

/// Rows of `deed.orders`.
struct OrderRows {
    private struct Row {
        let stream: Stream
        let order: Order
    }
    private var keyed = KeyedRows<Owned<OrderID>, Row>()

    mutating func add(_ order: Order?, of stream: Stream) {
        guard let order else { return }
        keyed.set(Owned(stream: stream, thing: order.id), Row(stream: stream, order: order))
    }

    var calls: [Call] {
        if keyed.isEmpty { return [] }
        let orders = keyed.rows.map(\.order)
        return [
            Statement.projectOrders(
                keyed.rows.map(\.stream),
                .texts(orders.map(\.id.text)),
                .texts(orders.map(\.opened.token.text)),
                .texts(orders.map { $0.opened.product?.text }),
                .int8s(orders.map(\.opened.openedAt.milliseconds)),
                .int8s(orders.map(\.opened.expires.milliseconds)),
                .texts(orders.map { $0.fulfilled?.purchase.description }),
                .optionalInt8s(orders.map { $0.closed?.at.milliseconds }),
                .texts(orders.map { $0.closed?.cause.word }))
        ]
    }
}

extension OrderClosed.Cause {
    fileprivate var word: String {
        switch self {
        case .stale: "stale"
        case .cancelled: "cancelled"
        case .settled: "settled"
        }
    }
}
