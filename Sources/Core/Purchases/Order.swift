/// A purchase that the back end announced before it happened.
package struct Order: Hashable, Sendable {
    package let opened: OrderOpened
    package internal(set) var closed: OrderClosed?
    package internal(set) var fulfilled: OrderFulfilled?

    package init(_ opened: OrderOpened, closed: OrderClosed? = nil) {
        self.opened = opened
        self.closed = closed
    }

    package var id: OrderID { opened.order }

    /// What has become of an order.
    package enum State: String, Hashable, Sendable {
        /// Its purchase is waited for.
        case open
        case fulfilled
        case stale
        case cancelled
        case settled
    }

    /// What has become of it by then; it is stale at its end, even if no process has noticed.
    package func state(at instant: Instant) -> State {
        switch closed?.cause {
        case .settled: .settled
        case _ where fulfilled != nil: .fulfilled
        case .cancelled: .cancelled
        case .stale: .stale
        case nil: instant < opened.expires ? .open : .stale
        }
    }

    /// Whether it was neither closed nor fulfilled; its time may be over.
    package var isOpen: Bool { closed == nil && fulfilled == nil }

    /// Whether support gave by hand what the purchase would have brought.
    package var isSettled: Bool {
        if case .settled? = closed?.cause { true } else { false }
    }
}
