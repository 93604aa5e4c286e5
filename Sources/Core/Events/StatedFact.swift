/// A statement in evidence, by the kind of its fact.
package enum StatedFact: Hashable, Sendable {
    case transaction(TransactionFact)
    case renewal(RenewalFact)
    case app(AppFact)
    case refund(RefundFact)
    case consent(ConsentFact)
}

extension TransactionFact: EventContent {
    package var subject: EventSubject { .purchase(purchase) }
    package var statedFact: StatedFact? { .transaction(self) }
    package var newestMember: LogFormat { reading == nil ? .first : .readings }
}

extension RenewalFact: EventContent {
    package var subject: EventSubject { .purchase(purchase) }
    package var statedFact: StatedFact? { .renewal(self) }
}

extension AppFact: EventContent {
    package var subject: EventSubject { .installation(app) }
    package var statedFact: StatedFact? { .app(self) }
}

extension RefundFact: EventContent {
    package var subject: EventSubject { .purchase(purchase) }
    package var statedFact: StatedFact? { .refund(self) }
}

extension ConsentFact: EventContent {
    package var subject: EventSubject { .account(appTransaction) }
    package var statedFact: StatedFact? { .consent(self) }
}

extension Event {
    /// The store's transaction that the event is about.
    package var transactionFact: TransactionFact? {
        if case .transaction(let fact) = fact { fact } else { nil }
    }

    /// When the reported event happened, by the store's clock.
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

    /// Returns when the event that this fact reports happened.
    private func moment(of fact: TransactionFact) -> Instant {
        switch type {
        case .purchaseMade, .subscriptionRenewed: fact.purchased
        case .purchaseRefunded, .purchaseRevoked: fact.revocation?.at ?? fact.signedAt
        default: fact.signedAt
        }
    }
}
