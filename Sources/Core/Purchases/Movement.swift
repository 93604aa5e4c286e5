/// The effect of one event on a balance.
package struct Movement: Hashable, Sendable {
    package let currency: CurrencyID
    /// The amount added, which is negative for a debit.
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
    /// The event's effect on each balance that it changed.
    package var movements: [Movement] {
        guard let moved = movedBelongings else { return movement.map { [$0] } ?? [] }
        let sign: Int64 = broughtBelongings == nil ? -1 : 1
        let (reason, ticket) = (mergeAct?.reason, mergeAct?.ticket)
        return moved.balances.sorted { $0.key < $1.key }.map { currency, amount in
            Movement(currency, sign * amount).because(of: reason, ticket)
        }
    }

    /// The event's effect on the single balance that it is about, if there is one.
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
