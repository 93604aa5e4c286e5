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
    /// The account tokens of statements that others outweigh: these facts alone would not tell of them.
    package let earlierTokens: [CarriedToken]
    /// What support blocked of it, in order of time.
    package let blocks: [Block]
    /// How it had come to the customer with whom it came, where both are one person.
    package let arrived: Arrival?

    package init(
        purchase: PurchaseID, from: CustomerID, cause: MoveCause, at: Instant, facts: Facts,
        reports: [RefundReport] = [], earlierTokens: [CarriedToken] = [], blocks: [Block] = [],
        arrived: Arrival? = nil
    ) {
        self.arrived = arrived
        self.purchase = purchase
        self.from = from
        self.cause = cause
        self.at = at
        transactions = facts.transactions
        renewals = facts.renewals
        refunds = facts.refunds
        self.reports = reports
        self.earlierTokens = earlierTokens
        self.blocks = blocks
    }
}

/// Support blocked a purchase from that instant on, or took that back.
package struct BlockChanged: Hashable, Sendable {
    package let purchase: PurchaseID
    package let at: Instant
    package let reason: Reason
    package let ticket: Ticket?

    package init(purchase: PurchaseID, at: Instant, reason: Reason, ticket: Ticket?) {
        self.purchase = purchase
        self.at = at
        self.reason = reason
        self.ticket = ticket
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
    /// Its evidence carries this token, which is the new holder's.
    case named(AccountToken)
    case admin(Reason, ticket: Ticket?)
    /// An admin took an earlier move back.
    case undone(Reason, ticket: Ticket?)
    /// Its holder became a part of the new one.
    case merged
    /// That was taken back.
    case unmerged

    /// Whether a person decided it, even against the evidence.
    package var isOfAdmin: Bool {
        switch self {
        case .admin, .undone: true
        case .claimed, .transferred, .named, .merged, .unmerged: false
        }
    }

    /// Whether the purchase stays with the same person, and stands there as it stood before.
    var isOfMerge: Bool { self == .merged || self == .unmerged }

    /// Whether the cool-down against moves there and back begins with it.
    var coolsDown: Bool {
        switch self {
        case .transferred, .admin, .undone: true
        case .claimed, .named, .merged, .unmerged: false
        }
    }
}

/// A customer handed in the app transaction of an account of the store, and may use that account.
package struct AccountJoined: Hashable, Sendable {
    package let account: AppTransactionID
    package let customer: CustomerID

    package init(account: AppTransactionID, customer: CustomerID) {
        self.account = account
        self.customer = customer
    }
}
