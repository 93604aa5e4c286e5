/// A consumable transaction added to a balance: when it was bought, or when its refund was reversed.
package struct BalanceCredited: EventContent {
    package let currency: CurrencyID
    package let amount: Int64
    package let purchase: PurchaseID
    package let transaction: TransactionID
    /// What one piece brought by the catalog when the transaction was first credited.
    package let perPiece: Int64
    package var subject: EventSubject { .balance(currency) }

    package init(
        currency: CurrencyID, amount: Int64, purchase: PurchaseID, transaction: TransactionID,
        perPiece: Int64
    ) {
        self.currency = currency
        self.amount = amount
        self.purchase = purchase
        self.transaction = transaction
        self.perPiece = perPiece
    }
}

/// A refund took from a balance what its transaction had added, even below zero.
package struct BalanceDebited: EventContent {
    package let currency: CurrencyID
    package let amount: Int64
    package let purchase: PurchaseID
    package let transaction: TransactionID
    package var subject: EventSubject { .balance(currency) }

    package init(
        currency: CurrencyID, amount: Int64, purchase: PurchaseID, transaction: TransactionID
    ) {
        self.currency = currency
        self.amount = amount
        self.purchase = purchase
        self.transaction = transaction
    }
}

/// The back end used some of a balance.
package struct BalanceSpent: EventContent {
    package let currency: CurrencyID
    package let amount: Int64
    /// What for, in the back end's words.
    package let reason: Reason?
    package var subject: EventSubject { .balance(currency) }

    package init(currency: CurrencyID, amount: Int64, reason: Reason?) {
        self.currency = currency
        self.amount = amount
        self.reason = reason
    }
}

/// An admin changed a balance by an amount above or below zero, or a back end added what was earned.
package struct BalanceAdjusted: EventContent {
    package let currency: CurrencyID
    package let amount: Int64
    package let reason: Reason
    package let ticket: Ticket?
    /// When a back end added it within the project's limits; `nil` when an admin changed the balance.
    package let earnedAt: Instant?
    package var subject: EventSubject { .balance(currency) }

    package init(
        currency: CurrencyID, amount: Int64, reason: Reason, ticket: Ticket?,
        earnedAt: Instant? = nil
    ) {
        self.earnedAt = earnedAt
        self.currency = currency
        self.amount = amount
        self.reason = reason
        self.ticket = ticket
    }
}

extension EventType {
    static let balances: EventFamily = [
        .balanceCredited: .ofCustomer(
            "balance.credited", "{amount} were credited for {purchase}"),
        .balanceDebited: .ofCustomer(
            "balance.debited", "{amount} were taken back for {purchase}"),
        .balanceSpent: .ofCustomer("balance.spent", "{amount} were spent"),
        .balanceAdjusted: .ofCustomer(
            "balance.adjusted", "The balance was adjusted by {amount}", isAct: true),
    ]
}
