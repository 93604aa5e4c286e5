/// An event, which is kept permanently. Each event contains its whole fact, so a reader needs no other event.
package enum Event: Hashable, Sendable {
    // Events in a project's own stream.
    case projectCreated(ProjectCreated)
    case keyCreated(KeyCreated)
    case keyRevoked(KeyRevoked)
    case keyRotated(KeyRotated)
    case catalogChanged(CatalogChanged)
    /// The app with its new settings.
    case appSet(App)
    case appRemoved(AppRemoved)
    /// Which apps the project's keys may add, as decided by the operator.
    case appAllowed(AppAllowance)
    case appDisallowed(AppAllowance)
    /// The new settings.
    case projectChanged(ProjectSettings)
    /// From this event on, the boundaries of the project's customers are published.
    case reconciliationStarted(ReconciliationStarted)
    case reconciliationFinished(ReconciliationFinished)
    /// The operator accepted the loss of events that instances had seen beyond the current end of
    /// the log.
    case logAccepted(LogAccepted)
    /// The endpoint with its new settings.
    case webhookSet(Webhook)
    case webhookRemoved(WebhookRemoved)

    // A store's statements about a transaction that was not known before.
    case purchaseMade(TransactionFact)
    case subscriptionRenewed(TransactionFact)
    /// A transaction that replaces another one's period, or a statement that another transaction replaced one.
    case subscriptionUpgraded(TransactionFact)
    // A store's new statements about a known transaction.
    case subscriptionExtended(TransactionFact)
    case purchaseRefunded(TransactionFact)
    /// A family member lost access.
    case purchaseRevoked(TransactionFact)
    case refundReversed(TransactionFact)
    /// The store restated the transaction without changing it. Older evidence that contradicts it
    /// is now outdated.
    case purchaseRestated(TransactionFact)
    case renewalChanged(RenewalFact)
    case renewalRestated(RenewalFact)
    case appInstalled(AppFact)
    case refundRequested(RefundFact)
    case refundDeclined(RefundFact)
    case consentRescinded(ConsentFact)
    /// A customer joined a store account. Recorded in the account's own stream.
    case accountJoined(AccountJoined)
    // Deed's report to the store about a requested refund.
    case refundReportPrepared(RefundReportPrepared)
    case refundReported(RefundReported)
    case refundUnreported(RefundUnreported)

    // Changes of a purchase's holder.
    case purchaseAttached(PurchaseAttached)
    case purchaseDetached(PurchaseDetached)
    // Support's decisions on whether a purchase may give access.
    case purchaseBlocked(BlockChanged)
    case purchaseUnblocked(BlockChanged)

    case grantGiven(GrantGiven)
    case grantChanged(GrantChanged)
    case grantRevoked(GrantRevoked)

    // Staff's notes about the customer.
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

    // The clock passed a boundary, or the catalog changed. These events publish changes that reads
    // already take into account.
    case accessStarted(AccessNotice)
    case accessEnded(AccessNotice)
    case accessEndingSoon(AccessNotice)

    // Two ids of one person were merged, or a merge was undone.
    case customerMerged(CustomerMerged)
    case customerJoined(CustomerJoined)
    case customerParted(CustomerParted)
    case customerUnmerged(CustomerUnmerged)
    case customerErased(CustomerErased)
    /// Any of the events above, reduced to its type because the customer was erased later.
    case erased(EventType)
}

/// The types of events. Their names and descriptions are in the files of their subjects.
///
/// The raw values are used only within this program. The log contains the names.
package enum EventType: Int, Hashable, Sendable, CaseIterable {
    // Events in a project's own stream.
    case projectCreated, keyCreated, keyRevoked, keyRotated, catalogChanged
    case appSet, appRemoved, appAllowed, appDisallowed, projectChanged
    case reconciliationStarted, reconciliationFinished, logAccepted, webhookSet, webhookRemoved
    // A store's statements, and their consequences for its accounts and requested refunds.
    case purchaseMade, subscriptionRenewed, subscriptionUpgraded, subscriptionExtended
    case purchaseRefunded, purchaseRevoked, refundReversed, purchaseRestated
    case renewalChanged, renewalRestated, appInstalled
    case refundRequested, refundDeclined, consentRescinded, accountJoined
    case refundReportPrepared, refundReported, refundUnreported
    case purchaseAttached, purchaseDetached, purchaseBlocked, purchaseUnblocked
    case grantGiven, grantChanged, grantRevoked
    case noteAdded, noteRemoved
    case balanceCredited, balanceDebited, balanceSpent, balanceAdjusted
    case orderOpened, orderFulfilled, orderClosed, tokenRegistered
    case accessStarted, accessEnded, accessEndingSoon
    case customerMerged, customerJoined, customerParted, customerUnmerged, customerErased
}

extension Event {
    /// Passes the event's type and content to a reader. This is the only list of all events.
    package func read<Reader: EventReader>(by reader: Reader) -> Reader.Result {
        switch self {
        case .projectCreated(let content): reader.read(.projectCreated, content)
        case .keyCreated(let content): reader.read(.keyCreated, content)
        case .keyRevoked(let content): reader.read(.keyRevoked, content)
        case .keyRotated(let content): reader.read(.keyRotated, content)
        case .catalogChanged(let content): reader.read(.catalogChanged, content)
        case .appSet(let content): reader.read(.appSet, content)
        case .appRemoved(let content): reader.read(.appRemoved, content)
        case .appAllowed(let content): reader.read(.appAllowed, content)
        case .appDisallowed(let content): reader.read(.appDisallowed, content)
        case .projectChanged(let content): reader.read(.projectChanged, content)
        case .reconciliationStarted(let content): reader.read(.reconciliationStarted, content)
        case .reconciliationFinished(let content): reader.read(.reconciliationFinished, content)
        case .logAccepted(let content): reader.read(.logAccepted, content)
        case .webhookSet(let content): reader.read(.webhookSet, content)
        case .webhookRemoved(let content): reader.read(.webhookRemoved, content)
        case .purchaseMade(let content): reader.read(.purchaseMade, content)
        case .subscriptionRenewed(let content): reader.read(.subscriptionRenewed, content)
        case .subscriptionUpgraded(let content): reader.read(.subscriptionUpgraded, content)
        case .subscriptionExtended(let content): reader.read(.subscriptionExtended, content)
        case .purchaseRefunded(let content): reader.read(.purchaseRefunded, content)
        case .purchaseRevoked(let content): reader.read(.purchaseRevoked, content)
        case .refundReversed(let content): reader.read(.refundReversed, content)
        case .purchaseRestated(let content): reader.read(.purchaseRestated, content)
        case .renewalChanged(let content): reader.read(.renewalChanged, content)
        case .renewalRestated(let content): reader.read(.renewalRestated, content)
        case .appInstalled(let content): reader.read(.appInstalled, content)
        case .refundRequested(let content): reader.read(.refundRequested, content)
        case .refundDeclined(let content): reader.read(.refundDeclined, content)
        case .consentRescinded(let content): reader.read(.consentRescinded, content)
        case .accountJoined(let content): reader.read(.accountJoined, content)
        case .refundReportPrepared(let content): reader.read(.refundReportPrepared, content)
        case .refundReported(let content): reader.read(.refundReported, content)
        case .refundUnreported(let content): reader.read(.refundUnreported, content)
        case .purchaseAttached(let content): reader.read(.purchaseAttached, content)
        case .purchaseDetached(let content): reader.read(.purchaseDetached, content)
        case .purchaseBlocked(let content): reader.read(.purchaseBlocked, content)
        case .purchaseUnblocked(let content): reader.read(.purchaseUnblocked, content)
        case .grantGiven(let content): reader.read(.grantGiven, content)
        case .grantChanged(let content): reader.read(.grantChanged, content)
        case .grantRevoked(let content): reader.read(.grantRevoked, content)
        case .noteAdded(let content): reader.read(.noteAdded, content)
        case .noteRemoved(let content): reader.read(.noteRemoved, content)
        case .balanceCredited(let content): reader.read(.balanceCredited, content)
        case .balanceDebited(let content): reader.read(.balanceDebited, content)
        case .balanceSpent(let content): reader.read(.balanceSpent, content)
        case .balanceAdjusted(let content): reader.read(.balanceAdjusted, content)
        case .orderOpened(let content): reader.read(.orderOpened, content)
        case .orderFulfilled(let content): reader.read(.orderFulfilled, content)
        case .orderClosed(let content): reader.read(.orderClosed, content)
        case .tokenRegistered(let content): reader.read(.tokenRegistered, content)
        case .accessStarted(let content): reader.read(.accessStarted, content)
        case .accessEnded(let content): reader.read(.accessEnded, content)
        case .accessEndingSoon(let content): reader.read(.accessEndingSoon, content)
        case .customerMerged(let content): reader.read(.customerMerged, content)
        case .customerJoined(let content): reader.read(.customerJoined, content)
        case .customerParted(let content): reader.read(.customerParted, content)
        case .customerUnmerged(let content): reader.read(.customerUnmerged, content)
        case .customerErased(let content): reader.read(.customerErased, content)
        case .erased(let type): reader.read(type, EmptiedContent())
        }
    }
}

/// The content of an event that an erasure has emptied.
private struct EmptiedContent: EventContent {
    var subject: EventSubject { .customer }
}
