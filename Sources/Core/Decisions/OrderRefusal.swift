/// Why an order cannot be opened or closed.
package enum OrderRefusal: Worded, Hashable, Sendable {
    case unknown(OrderID)
    case exists
    case fulfilled(OrderID)
    case tooMany(limit: Int)

    package var wording: RefusalWording {
        switch self {
        case .unknown(let id):
            .unknown(
                "order_unknown", "There is no order \"\(id)\" in the requested environment.",
                .listOrders)
        case .exists:
            .conflict(
                "order_exists",
                "The project already has an order with this id; use it, or choose another id.")
        case .fulfilled(let id):
            .conflict(
                "order_fulfilled",
                "The purchase for the order \"\(id)\" has arrived; there is nothing left to close.")
        case .tooMany(let limit):
            .conflict(
                "too_many_orders",
                "The customer has \(limit) open orders, which is the limit; close one first.")
        }
    }
}
