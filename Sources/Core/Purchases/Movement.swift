/// What one event did to a balance.
package struct Movement: Hashable, Sendable {
    package let currency: CurrencyID
    /// The amount added; negative for a debit.
    package let amount: Int64
    package private(set) var purchase: PurchaseID?
    package private(set) var transaction: TransactionID?
    package private(set) var reason: Reason?
    package private(set) var ticket: Ticket?

    fileprivate init(_ currency: CurrencyID, _ amount: Int64) {
        self.currency = currency
        self.amount = amount
    }

    fileprivate func of(_ purchase: PurchaseID, _ transaction: TransactionID) -> Movement {
        var movement = self
        movement.purchase = purchase
        movement.transaction = transaction
        return movement
    }

    fileprivate func because(of reason: Reason?, _ ticket: Ticket? = nil) -> Movement {
        var movement = self
        movement.reason = reason
        movement.ticket = ticket
        return movement
    }
}

extension Event {
    /// What the event did to a balance, if anything.
    package var movement: Movement? {
        switch self {
        case .balanceCredited(let event):
            Movement(event.currency, event.amount).of(event.purchase, event.transaction)
        case .balanceDebited(let event):
            Movement(event.currency, -event.amount).of(event.purchase, event.transaction)
        case .balanceSpent(let event):
            Movement(event.currency, -event.amount).because(of: event.reason)
        case .balanceAdjusted(let event):
            Movement(event.currency, event.amount).because(of: event.reason, event.ticket)
        default: nil
        }
    }
}
