/// A consumable transaction added to a balance, either when it was bought or when its refund was reversed.
package struct BalanceCredited: EventContent {
    package let currency: CurrencyID
    package let amount: Int64
    package let purchase: PurchaseID
    package let transaction: TransactionID
    /// The amount that each unit added, according to the catalog when the transaction was first credited.
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

/// A refund subtracted from a balance what its transaction had added. The balance may have become
/// negative.
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

/// The back end spent part of a balance.
package struct BalanceSpent: EventContent {
    package let currency: CurrencyID
    package let amount: Int64
    /// The purpose of the spend, as given by the back end.
    package let reason: Reason?
    package var subject: EventSubject { .balance(currency) }

    package init(currency: CurrencyID, amount: Int64, reason: Reason?) {
        self.currency = currency
        self.amount = amount
        self.reason = reason
    }
}

/// An admin changed a balance by a positive or negative amount, or a back end added coins that the customer earned.
package struct BalanceAdjusted: EventContent {
    package let currency: CurrencyID
    package let amount: Int64
    package let reason: Reason
    package let ticket: Ticket?
    /// When the customer earned the amount, if a back end added it; `nil` if an admin changed the balance.
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
