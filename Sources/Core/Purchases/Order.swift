/// A purchase that the back end announced in advance.
package struct Order: Hashable, Sendable {
    package let opened: OrderOpened
    package internal(set) var closed: OrderClosed?
    package internal(set) var fulfilled: OrderFulfilled?

    package init(
        _ opened: OrderOpened, closed: OrderClosed? = nil, fulfilled: OrderFulfilled? = nil
    ) {
        self.opened = opened
        self.closed = closed
        self.fulfilled = fulfilled
    }

    package var id: OrderID { opened.order }

    package enum State: String, Hashable, Sendable {
        /// The order's purchase has not arrived yet.
        case open
        case fulfilled
        case stale
        case cancelled
        case settled
    }

    /// Returns the order's state at that instant. An order expires at its end even if this has not been recorded yet.
    package func state(at instant: Instant) -> State {
        switch closed?.cause {
        case .settled: .settled
        case _ where fulfilled != nil: .fulfilled
        case .cancelled: .cancelled
        case .stale: .stale
        case nil: instant < opened.expires ? .open : .stale
        }
    }

    /// Whether the order is neither closed nor fulfilled. It may have expired.
    package var isOpen: Bool { closed == nil && fulfilled == nil }

    /// Whether support manually gave what the purchase would have given.
    package var isSettled: Bool {
        if case .settled? = closed?.cause { true } else { false }
    }
}
