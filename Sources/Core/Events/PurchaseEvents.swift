/// A purchase came to this customer from another one, whole.
package struct PurchaseAttached: Hashable, Sendable {
    package let purchase: PurchaseID
    package let from: CustomerID
    package let cause: MoveCause
    package let at: Instant
    /// The facts that count of all that were stated about it.
    package let transactions: [TransactionFact]
    package let renewals: [RenewalFact]
    package let refunds: [RefundFact]
    package let reports: [RefundReport]

    package init(
        purchase: PurchaseID, from: CustomerID, cause: MoveCause, at: Instant, facts: Facts,
        reports: [RefundReport] = []
    ) {
        self.purchase = purchase
        self.from = from
        self.cause = cause
        self.at = at
        transactions = facts.transactions
        renewals = facts.renewals
        refunds = facts.refunds
        self.reports = reports
    }
}

/// A purchase left this customer for another one.
package struct PurchaseDetached: Hashable, Sendable {
    package let purchase: PurchaseID
    package let to: CustomerID
    package let cause: MoveCause
    package let at: Instant

    package init(purchase: PurchaseID, to: CustomerID, cause: MoveCause, at: Instant) {
        self.purchase = purchase
        self.to = to
        self.cause = cause
        self.at = at
    }
}

/// Why a purchase changed its holder.
package enum MoveCause: Hashable, Sendable {
    /// It had no holder, and the new holder proved it first.
    case claimed
    /// The new holder proved it, and the project's policy let it go.
    case transferred
    case admin(Reason, ticket: Ticket?)
    /// An admin took an earlier move back.
    case undone(Reason, ticket: Ticket?)
}

/// All that the customer's stream said about a person was taken out of it.
package struct CustomerErased: Hashable, Sendable {
    package let reason: Reason
    package let ticket: Ticket?

    package init(reason: Reason, ticket: Ticket?) {
        self.reason = reason
        self.ticket = ticket
    }
}

/// A customer handed in the app transaction of an account of the store, and is among those who may.
package struct AccountJoined: Hashable, Sendable {
    package let account: AppTransactionID
    package let customer: CustomerID

    package init(account: AppTransactionID, customer: CustomerID) {
        self.account = account
        self.customer = customer
    }
}
