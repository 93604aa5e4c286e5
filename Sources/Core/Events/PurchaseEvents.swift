/// A purchase moved to this customer from another one, with all of its facts.
package struct PurchaseAttached: EventContent {
    package let purchase: PurchaseID
    package let from: CustomerID
    package let cause: MoveCause
    package let at: Instant
    /// The facts that prevail among all stated facts about the purchase.
    package let transactions: [TransactionFact]
    package let renewals: [RenewalFact]
    package let refunds: [RefundFact]
    package let reports: [RefundReport]
    /// The account tokens in outweighed statements. The prevailing facts do not contain them.
    package let earlierTokens: [CarriedToken]
    /// Support's blocks on the purchase, in chronological order.
    package let blocks: [Block]
    /// How the purchase had reached its previous holder, if that customer is the same person.
    package let arrived: Arrival?

    package var subject: EventSubject { .purchase(purchase) }
    package var newestMember: LogFormat {
        transactions.contains { $0.reading != nil } ? .readings : .first
    }

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

/// Support blocked a purchase from an instant on, or lifted the block.
package struct BlockChanged: EventContent {
    package let purchase: PurchaseID
    package let at: Instant
    package let reason: Reason
    package let ticket: Ticket?
    package var subject: EventSubject { .purchase(purchase) }

    package init(purchase: PurchaseID, at: Instant, reason: Reason, ticket: Ticket?) {
        self.purchase = purchase
        self.at = at
        self.reason = reason
        self.ticket = ticket
    }
}

/// A purchase moved from this customer to another one.
package struct PurchaseDetached: EventContent {
    package let purchase: PurchaseID
    package let to: CustomerID
    package let cause: MoveCause
    package let at: Instant
    package var subject: EventSubject { .purchase(purchase) }

    package init(purchase: PurchaseID, to: CustomerID, cause: MoveCause, at: Instant) {
        self.purchase = purchase
        self.to = to
        self.cause = cause
        self.at = at
    }
}

/// Why a purchase changed its holder.
package enum MoveCause: Hashable, Sendable {
    /// The purchase had no holder, and the new holder was the first to prove it.
    case claimed
    /// The new holder proved the purchase, and the project's policy allowed the transfer.
    case transferred
    /// The purchase's evidence carries this token, which belongs to the new holder.
    case named(AccountToken)
    case admin(Reason, ticket: Ticket?)
    /// An admin undid an earlier move.
    case undone(Reason, ticket: Ticket?)
    /// The purchase's holder was merged into the new one.
    case merged
    /// A merge that had moved the purchase was undone.
    case unmerged

    /// Whether a person decided the move, perhaps against the evidence.
    package var isOfAdmin: Bool {
        switch self {
        case .admin, .undone: true
        case .claimed, .transferred, .named, .merged, .unmerged: false
        }
    }

    /// Whether the purchase stays with the same person. If so, its standing does not change.
    var isOfMerge: Bool { self == .merged || self == .unmerged }

    /// Whether the move starts the cool-down, which keeps purchases from moving back and forth.
    var coolsDown: Bool {
        switch self {
        case .transferred, .admin, .undone: true
        case .claimed, .named, .merged, .unmerged: false
        }
    }
}

/// A customer submitted the app transaction of a store account, and may use that account.
package struct AccountJoined: EventContent {
    package let account: AppTransactionID
    package let customer: CustomerID
    package var subject: EventSubject { .account(account) }

    package init(account: AppTransactionID, customer: CustomerID) {
        self.account = account
        self.customer = customer
    }
}

extension EventType {
    static let holdings: EventFamily = [
        .purchaseAttached: .ofCustomer(
            "purchase.attached", "{purchase} came to this customer",
            .inWords { event in
                guard case .purchaseAttached(let attached) = event.event,
                    case .named(let token) = attached.cause
                else { return nil }
                let instant = event.recordedAt.text
                return "Purchase \(attached.purchase) came from another customer at \(instant): "
                    + "it carries the account token \(token), which belongs to this customer."
            }, isAct: true),
        // A purchase that moved away no longer gives access here.
        .purchaseDetached: .ofCustomer(
            "purchase.detached", "{purchase} went to {to}", isAct: true),
        .purchaseBlocked: .ofCustomer(
            "purchase.blocked", "{purchase} was blocked", .deed("blocked purchase"), isAct: true),
        .purchaseUnblocked: .ofCustomer(
            "purchase.unblocked", "The block of {purchase} was removed",
            .deed("removed the block of purchase"), isAct: true),
    ]
}

extension BlockChanged: Deed {
    var effectiveAt: Instant? { at }
}
