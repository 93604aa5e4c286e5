import Core
import SQL

// The keys of these tables start with the column that distinguishes rows best.
extension Table {
    /// The holders of purchases. Commits write changes through `Holders`, and a second claim to a
    /// purchase violates the key.
    static let holders = Table(
        "holders",
        [
            .text("project"), .text("environment"), .text("store"), .text("app"),
            .text("original"), .text("customer").owner,
        ], key: ["original", "project", "store", "environment", "app"], writing: .new,
        source: RowSource { origin in
            origin.customer.purchases.flatMap(\.heldPurchases)
        } name: { held, origin in
            [
                .text(held.purchase.store.rawValue), .text(held.app.text),
                .text(held.purchase.original.text), .text(origin.stream.customer.text),
            ]
        })

    /// Purchases that may never have a holder again.
    static let erasedPurchases = Table(
        "erased_purchases",
        [.text("project"), .text("environment"), .text("mark"), .text("customer").owner],
        key: ["mark", "project", "environment"],
        source: RowSource { origin in
            origin.customer.forgotten
        } eachChangedBy: { event, _ in
            if case .customerErased(let erased) = event { erased.forgotten } else { [] }
        } name: { mark, origin in
            [.text(mark.text), .text(origin.stream.customer.text)]
        } cells: { _, _ in
            []
        })

    static let orderOwners = Table(
        "order_owners",
        [
            .text("project"), .text("environment"), .text("order_id"), .text("customer").owner,
        ], key: ["order_id", "project", "environment"], writing: .claiming(.claimOrders),
        source: RowSource { origin in
            origin.customer.orders.map(\.id)
        } eachChangedBy: { event, _ in
            event.givenOrders
        } name: { id, origin in
            [.text(id.text), .text(origin.stream.customer.text)]
        } cells: { id, origin in
            origin.customer.order(id).map { _ in [] }
        })

    static let tokens = Table(
        "tokens",
        [
            .text("project"), .text("environment"), .text("token"),
            .text("customer").owner.indexed,
        ], key: ["token", "project", "environment"], writing: .claiming(.claimTokens),
        source: RowSource { origin in
            origin.customer.orders.map(\.opened.token) + origin.customer.tokens
        } eachChangedBy: { event, _ in
            event.givenTokens
        } name: { token, origin in
            [.text(token.text), .text(origin.stream.customer.text)]
        } cells: { token, origin in
            origin.customer.isNamed(by: token.text) ? [] : nil
        })
}

extension Event {
    fileprivate var opened: OrderOpened? {
        if case .orderOpened(let opened) = self { opened } else { nil }
    }

    fileprivate var givenOrders: [OrderID] {
        opened.map { [$0.order] } ?? movedBelongings?.orders ?? []
    }

    fileprivate var givenTokens: [AccountToken] {
        if case .tokenRegistered(let registered) = self { return [registered.token] }
        return opened.map { [$0.token] } ?? movedBelongings?.tokens ?? []
    }
}
