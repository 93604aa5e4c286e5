/// A purchase that the back end announced before it happened.
package struct Order: Hashable, Sendable {
    package let opened: OrderOpened
    package internal(set) var closed: OrderClosed?
    package internal(set) var fulfilled: OrderFulfilled?

    init(_ opened: OrderOpened) {
        self.opened = opened
    }

    package var id: OrderID { opened.order }

    /// Whether its purchase is still waited for.
    package var isOpen: Bool { closed == nil && fulfilled == nil }

    /// Whether support gave by hand what the purchase would have brought.
    package var isSettled: Bool {
        if case .settled? = closed?.cause { true } else { false }
    }

    /// Whether the fact carries this order's token. Stores write a UUID in either case.
    func isNamed(by fact: TransactionFact) -> Bool {
        fact.accountToken.map { $0.lowercased() == opened.token.lowercased() } ?? false
    }
}
