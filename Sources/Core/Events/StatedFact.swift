/// What evidence stated, by the kind of its fact.
package enum StatedFact: Hashable, Sendable {
    case transaction(TransactionFact)
    case renewal(RenewalFact)
    case app(AppFact)
    case refund(RefundFact)
    case consent(ConsentFact)
}

extension Event {
    /// What evidence stated for the event to happen; `nil` for what Deed or its callers decided.
    package var fact: StatedFact? {
        switch self {
        case .purchaseMade(let fact), .subscriptionRenewed(let fact),
            .subscriptionUpgraded(let fact), .subscriptionExtended(let fact),
            .purchaseRefunded(let fact), .purchaseRevoked(let fact), .refundReversed(let fact),
            .purchaseRestated(let fact):
            .transaction(fact)
        case .renewalChanged(let fact), .renewalRestated(let fact): .renewal(fact)
        case .appInstalled(let fact): .app(fact)
        case .refundRequested(let fact), .refundDeclined(let fact): .refund(fact)
        case .consentRescinded(let fact): .consent(fact)
        case .accountJoined, .refundReportPrepared, .refundReported, .refundUnreported,
            .purchaseAttached, .purchaseDetached, .purchaseBlocked, .purchaseUnblocked,
            .grantGiven, .grantChanged, .grantRevoked, .noteAdded, .noteRemoved, .balanceCredited,
            .balanceDebited,
            .balanceSpent, .balanceAdjusted, .orderOpened, .orderFulfilled, .orderClosed,
            .tokenRegistered, .accessStarted, .accessEnded, .accessEndingSoon, .customerMerged,
            .customerJoined, .customerParted, .customerUnmerged, .customerErased, .erased,
            .projectCreated, .keyCreated, .keyRevoked, .keyRotated, .catalogChanged, .appSet,
            .appRemoved, .appAllowed, .appDisallowed, .projectChanged, .reconciliationStarted,
            .reconciliationFinished, .logAccepted, .webhookSet, .webhookRemoved:
            nil
        }
    }

    /// The store's transaction that the event states something about.
    package var transactionFact: TransactionFact? {
        if case .transaction(let fact) = fact { fact } else { nil }
    }

    /// When it happened by the clock of the store, for what a store reported.
    package var statedAt: Instant? {
        switch fact {
        case .transaction(let fact): moment(of: fact)
        case .renewal(let fact): fact.signedAt
        case .app(let fact): fact.originallyPurchased ?? fact.signedAt
        case .refund(let fact): fact.signedAt
        case .consent(let fact): fact.signedAt
        case nil: notice?.at
        }
    }

    /// When what the event says of a transaction happened.
    private func moment(of fact: TransactionFact) -> Instant {
        switch type {
        case .purchaseMade, .subscriptionRenewed: fact.purchased
        case .purchaseRefunded, .purchaseRevoked: fact.revocation?.at ?? fact.signedAt
        default: fact.signedAt
        }
    }
}
