/// A request to block or unblock a purchase. A blocked purchase gives nothing. After the
/// unblocking, the store's statements apply again.
package struct BlockPurchase: Hashable, Sendable {
    package let purchase: PurchaseID
    package let isToHold: Bool
    package let reason: Reason
    package let ticket: Ticket?

    package init(_ purchase: PurchaseID, isToHold: Bool, reason: Reason, ticket: Ticket?) {
        self.purchase = purchase
        self.isToHold = isToHold
        self.reason = reason
        self.ticket = ticket
    }
}

extension CustomerState {
    /// Blocks or unblocks the purchase and adjusts its balances. Does nothing if the purchase already has that state.
    package func decide(
        _ wish: BlockPurchase, by catalog: Catalog, now: Instant
    ) throws(Refusal) -> [Event] {
        guard let held = purchase(wish.purchase) else { throw .move(.unknown(wish.purchase)) }
        if !wish.isToHold, held.blocks.isEmpty { throw .move(.notBlocked(wish.purchase)) }
        if (held.block != nil) == wish.isToHold { return [] }
        var history = History(of: self)
        history.append(
            wish.event(at: held.blocks.last.map { max($0.until ?? $0.since, now) } ?? now))
        for evidence in held.evidence {
            for event in history.state.settlement(of: evidence.effective, by: catalog) {
                history.append(event)
            }
        }
        return history.events
    }
}

extension BlockPurchase {
    fileprivate func event(at instant: Instant) -> Event {
        let change = BlockChanged(purchase: purchase, at: instant, reason: reason, ticket: ticket)
        return isToHold ? .purchaseBlocked(change) : .purchaseUnblocked(change)
    }
}
