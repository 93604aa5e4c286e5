/// What happened, as it is kept for ever. Each carries its fact whole, so that it can be read alone.
package enum Event: Hashable, Sendable {
    // The project's own stream.
    case projectCreated(ProjectCreated)
    case keyCreated(KeyCreated)
    case keyRevoked(KeyRevoked)
    case keyRotated(KeyRotated)
    case catalogChanged(CatalogChanged)
    /// The app with its new settings.
    case appSet(App)
    case appRemoved(AppRemoved)
    /// How much the project's keys may credit; the operator decides.
    case appAllowed(AppAllowance)
    case appDisallowed(AppAllowance)
    /// The new settings.
    case projectChanged(ProjectSettings)
    /// From now on boundaries of the project's customers are published.
    case reconciliationStarted(ReconciliationStarted)
    case reconciliationFinished(ReconciliationFinished)
    /// Events that instances have seen beyond the present end of the log are given up.
    case logAccepted(LogAccepted)
    /// The endpoint with its new settings.
    case webhookSet(Webhook)
    case webhookRemoved(WebhookRemoved)

    // What a store stated about a transaction that was not known before.
    case purchaseMade(TransactionFact)
    case subscriptionRenewed(TransactionFact)
    /// A transaction that replaces another one's period, or the news that one was replaced.
    case subscriptionUpgraded(TransactionFact)
    // What a store newly stated about a known transaction.
    case subscriptionExtended(TransactionFact)
    case purchaseRefunded(TransactionFact)
    /// A family member's access was taken away.
    case purchaseRevoked(TransactionFact)
    case refundReversed(TransactionFact)
    /// What the transaction is did not change; older evidence that says otherwise is now outdated.
    case purchaseRestated(TransactionFact)
    case renewalChanged(RenewalFact)
    case renewalRestated(RenewalFact)
    case appInstalled(AppFact)
    case refundRequested(RefundFact)
    case refundDeclined(RefundFact)
    case consentRescinded(ConsentFact)
    /// A customer belongs to a store account; in the account's own stream.
    case accountJoined(AccountJoined)
    // What Deed tells the store about a requested refund.
    case refundReportPrepared(RefundReportPrepared)
    case refundReported(RefundReported)
    case refundUnreported(RefundUnreported)

    // Who holds a purchase.
    case purchaseAttached(PurchaseAttached)
    case purchaseDetached(PurchaseDetached)
    // Whether support lets it give anything.
    case purchaseBlocked(BlockChanged)
    case purchaseUnblocked(BlockChanged)

    case grantGiven(GrantGiven)
    case grantChanged(GrantChanged)
    case grantRevoked(GrantRevoked)

    // What staff want to remember of the customer.
    case noteAdded(NoteAdded)
    case noteRemoved(NoteRemoved)

    case balanceCredited(BalanceCredited)
    case balanceDebited(BalanceDebited)
    case balanceSpent(BalanceSpent)
    case balanceAdjusted(BalanceAdjusted)

    case orderOpened(OrderOpened)
    case orderFulfilled(OrderFulfilled)
    case orderClosed(OrderClosed)
    case tokenRegistered(TokenRegistered)

    // The clock passed a boundary, or the catalog changed; these publish what reads know already.
    case accessStarted(AccessNotice)
    case accessEnded(AccessNotice)
    case accessEndingSoon(AccessNotice)

    // One person's two ids, and a merge that was taken back.
    case customerMerged(CustomerMerged)
    case customerJoined(CustomerJoined)
    case customerParted(CustomerParted)
    case customerUnmerged(CustomerUnmerged)
    case customerErased(CustomerErased)
    /// Any of these of which only the type is kept, because the customer was erased later.
    case erased(EventType)
}

/// An event with its place in the ledger.
package struct RecordedEvent: Hashable, Sendable {
    package let stream: Stream
    package let version: Int64
    package let position: Position
    package let event: Event
    /// When it happened, by the clock of the party that reported it.
    package let occurredAt: Instant
    /// When it was recorded, by Deed's clock.
    package let recordedAt: Instant
    package let actor: Actor
    package let cause: String
    package let catalogVersion: Int64

    package init(
        stream: Stream, version: Int64, position: Position, event: Event, record: EventRecord
    ) {
        self.stream = stream
        self.version = version
        self.position = position
        self.event = event
        occurredAt = record.occurredAt
        recordedAt = record.recordedAt
        actor = record.actor
        cause = record.cause
        catalogVersion = record.catalogVersion
    }
}

/// The circumstances of an event: when, who, why.
package struct EventRecord: Hashable, Sendable {
    package var occurredAt: Instant
    package var recordedAt: Instant
    package var actor: Actor
    package var cause: String
    package var catalogVersion: Int64

    package init(
        occurredAt: Instant, recordedAt: Instant, actor: Actor, cause: String,
        catalogVersion: Int64
    ) {
        self.occurredAt = occurredAt
        self.recordedAt = recordedAt
        self.actor = actor
        self.cause = cause
        self.catalogVersion = catalogVersion
    }
}
