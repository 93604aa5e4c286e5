/// The types of events, by the stable names under which they are kept and shown.
package enum EventType: String, Hashable, Sendable, CaseIterable {
    case projectCreated = "project.created"
    case keyCreated = "key.created"
    case keyRevoked = "key.revoked"
    case keyRotated = "key.rotated"
    case catalogChanged = "catalog.changed"
    case appSet = "app.set"
    case appRemoved = "app.removed"
    case appAllowed = "app.allowed"
    case appDisallowed = "app.disallowed"
    case projectChanged = "project.changed"
    case reconciliationStarted = "reconciliation.started"
    case reconciliationFinished = "reconciliation.finished"
    case logAccepted = "log.accepted"
    case webhookSet = "webhook.set"
    case webhookRemoved = "webhook.removed"
    case purchaseMade = "purchase.made"
    case subscriptionRenewed = "subscription.renewed"
    case subscriptionUpgraded = "subscription.upgraded"
    case subscriptionExtended = "subscription.extended"
    case purchaseRefunded = "purchase.refunded"
    case purchaseRevoked = "purchase.revoked"
    case refundReversed = "refund.reversed"
    case purchaseRestated = "purchase.restated"
    case renewalChanged = "renewal.changed"
    case renewalRestated = "renewal.restated"
    case appInstalled = "app.installed"
    case refundRequested = "refund.requested"
    case refundDeclined = "refund.declined"
    case consentRescinded = "consent.rescinded"
    case accountJoined = "account.joined"
    case refundReportPrepared = "refund.report_prepared"
    case refundReported = "refund.reported"
    case refundUnreported = "refund.unreported"
    case purchaseAttached = "purchase.attached"
    case purchaseDetached = "purchase.detached"
    case purchaseBlocked = "purchase.blocked"
    case purchaseUnblocked = "purchase.unblocked"
    case grantGiven = "grant.given"
    case grantChanged = "grant.changed"
    case grantRevoked = "grant.revoked"
    case noteAdded = "note.added"
    case noteRemoved = "note.removed"
    case balanceCredited = "balance.credited"
    case balanceDebited = "balance.debited"
    case balanceSpent = "balance.spent"
    case balanceAdjusted = "balance.adjusted"
    case orderOpened = "order.opened"
    case orderFulfilled = "order.fulfilled"
    case orderClosed = "order.closed"
    case tokenRegistered = "token.registered"
    case accessStarted = "access.started"
    case accessEnded = "access.ended"
    case accessEndingSoon = "access.ending_soon"
    case customerMerged = "customer.merged"
    case customerJoined = "customer.joined"
    case customerParted = "customer.parted"
    case customerUnmerged = "customer.unmerged"
    case customerErased = "customer.erased"
}

extension EventType {
    package var name: String { rawValue }

    /// Which streams hold it, and what follows from that.
    package enum Home: Hashable, Sendable {
        /// A project's own stream. Answers about its customers may depend on some of its events.
        case project(changesAnswers: Bool)
        /// The stream of an account of the store, which several customers may share.
        case account
        /// A customer's stream. Evidence states facts; Deed and its callers decide the rest.
        case customer(isFact: Bool)
    }

    package var home: Home {
        switch self {
        case .projectCreated, .catalogChanged, .appSet, .appRemoved, .projectChanged:
            .project(changesAnswers: true)
        case .keyCreated, .keyRevoked, .keyRotated, .appAllowed, .appDisallowed,
            .reconciliationStarted,
            .reconciliationFinished, .logAccepted, .webhookSet, .webhookRemoved:
            .project(changesAnswers: false)
        case .accountJoined: .account
        case .purchaseMade, .subscriptionRenewed, .subscriptionUpgraded, .subscriptionExtended,
            .purchaseRefunded, .purchaseRevoked, .refundReversed, .purchaseRestated,
            .renewalChanged, .renewalRestated, .appInstalled, .refundRequested, .refundDeclined,
            .consentRescinded:
            .customer(isFact: true)
        case .refundReportPrepared, .refundReported, .refundUnreported, .purchaseAttached,
            .purchaseDetached, .purchaseBlocked, .purchaseUnblocked, .grantGiven, .grantChanged,
            .grantRevoked, .noteAdded, .noteRemoved, .balanceCredited, .balanceDebited,
            .balanceSpent, .balanceAdjusted,
            .orderOpened, .orderFulfilled, .orderClosed, .tokenRegistered, .accessStarted,
            .accessEnded, .accessEndingSoon, .customerMerged, .customerJoined, .customerParted,
            .customerUnmerged, .customerErased:
            .customer(isFact: false)
        }
    }

    /// What an explanation of access says of it.
    package enum Telling: Hashable, Sendable {
        /// It is listed, and a sentence says who decided it and why.
        case inWords
        /// It is listed. The rule that follows from it has the words.
        case listed
        /// It is left out, since no access follows from it.
        case leftOut
    }

    package var telling: Telling {
        switch self {
        case .grantGiven, .grantChanged, .grantRevoked, .purchaseBlocked, .purchaseUnblocked,
            .purchaseAttached:
            .inWords
        case .purchaseMade, .subscriptionRenewed, .subscriptionUpgraded, .subscriptionExtended,
            .purchaseRefunded, .purchaseRevoked, .refundReversed, .purchaseRestated,
            .renewalChanged, .renewalRestated, .appInstalled:
            .listed
        case .refundRequested, .refundDeclined, .refundReportPrepared, .refundReported,
            .refundUnreported, .consentRescinded, .accountJoined, .noteAdded, .noteRemoved,
            .balanceCredited,
            .balanceDebited, .balanceSpent, .balanceAdjusted, .orderOpened, .orderFulfilled,
            .orderClosed, .tokenRegistered, .accessStarted, .accessEnded, .accessEndingSoon,
            .customerMerged, .customerJoined, .customerParted, .customerUnmerged, .customerErased,
            // A purchase that moved away gives no access here.
            .purchaseDetached,
            .projectCreated, .keyCreated, .keyRevoked, .keyRotated, .catalogChanged, .appSet,
            .appRemoved, .appAllowed, .appDisallowed, .projectChanged, .reconciliationStarted,
            .reconciliationFinished, .logAccepted, .webhookSet, .webhookRemoved:
            .leftOut
        }
    }

    /// The log's format with which it came to be. An older program refuses it by its name.
    package var since: LogFormat {
        switch self {
        case .projectCreated, .keyCreated, .keyRevoked, .keyRotated, .catalogChanged, .appSet,
            .appRemoved, .appAllowed, .appDisallowed, .projectChanged, .reconciliationStarted,
            .reconciliationFinished, .logAccepted, .webhookSet, .webhookRemoved, .purchaseMade,
            .subscriptionRenewed, .subscriptionUpgraded, .subscriptionExtended, .purchaseRefunded,
            .purchaseRevoked, .refundReversed, .purchaseRestated, .renewalChanged,
            .renewalRestated, .appInstalled, .refundRequested, .refundDeclined, .consentRescinded,
            .accountJoined, .refundReportPrepared, .refundReported, .refundUnreported,
            .purchaseAttached, .purchaseDetached, .purchaseBlocked, .purchaseUnblocked,
            .grantGiven, .grantChanged, .grantRevoked, .balanceCredited, .balanceDebited,
            .balanceSpent, .balanceAdjusted, .orderOpened, .orderFulfilled, .orderClosed,
            .tokenRegistered, .accessStarted, .accessEnded, .accessEndingSoon, .customerMerged,
            .customerJoined, .customerParted, .customerUnmerged, .customerErased:
            .first
        case .noteAdded, .noteRemoved: .readings
        }
    }

    /// Whether evidence states it.
    package var isFact: Bool { home == .customer(isFact: true) }

    /// Whether answers about a project's customers may depend on it, where it is an event of the project.
    package var changesAnswers: Bool { home != .project(changesAnswers: false) }

    /// Whether its content goes when its customer is erased.
    package var mayBeEmptied: Bool {
        if case .project = home { false } else { self != .customerErased }
    }

    /// Whether customers' own streams hold it.
    package var isOfCustomer: Bool {
        if case .customer = home { true } else { false }
    }
}

extension Event {
    package var type: EventType {
        switch self {
        case .projectCreated: .projectCreated
        case .keyCreated: .keyCreated
        case .keyRevoked: .keyRevoked
        case .keyRotated: .keyRotated
        case .catalogChanged: .catalogChanged
        case .appSet: .appSet
        case .appRemoved: .appRemoved
        case .appAllowed: .appAllowed
        case .appDisallowed: .appDisallowed
        case .projectChanged: .projectChanged
        case .reconciliationStarted: .reconciliationStarted
        case .reconciliationFinished: .reconciliationFinished
        case .logAccepted: .logAccepted
        case .webhookSet: .webhookSet
        case .webhookRemoved: .webhookRemoved
        case .purchaseMade: .purchaseMade
        case .subscriptionRenewed: .subscriptionRenewed
        case .subscriptionUpgraded: .subscriptionUpgraded
        case .subscriptionExtended: .subscriptionExtended
        case .purchaseRefunded: .purchaseRefunded
        case .purchaseRevoked: .purchaseRevoked
        case .refundReversed: .refundReversed
        case .purchaseRestated: .purchaseRestated
        case .renewalChanged: .renewalChanged
        case .renewalRestated: .renewalRestated
        case .appInstalled: .appInstalled
        case .refundRequested: .refundRequested
        case .refundDeclined: .refundDeclined
        case .consentRescinded: .consentRescinded
        case .accountJoined: .accountJoined
        case .refundReportPrepared: .refundReportPrepared
        case .refundReported: .refundReported
        case .refundUnreported: .refundUnreported
        case .purchaseAttached: .purchaseAttached
        case .purchaseDetached: .purchaseDetached
        case .purchaseBlocked: .purchaseBlocked
        case .purchaseUnblocked: .purchaseUnblocked
        case .grantGiven: .grantGiven
        case .grantChanged: .grantChanged
        case .grantRevoked: .grantRevoked
        case .noteAdded: .noteAdded
        case .noteRemoved: .noteRemoved
        case .balanceCredited: .balanceCredited
        case .balanceDebited: .balanceDebited
        case .balanceSpent: .balanceSpent
        case .balanceAdjusted: .balanceAdjusted
        case .orderOpened: .orderOpened
        case .orderFulfilled: .orderFulfilled
        case .orderClosed: .orderClosed
        case .tokenRegistered: .tokenRegistered
        case .accessStarted: .accessStarted
        case .accessEnded: .accessEnded
        case .accessEndingSoon: .accessEndingSoon
        case .customerMerged: .customerMerged
        case .customerJoined: .customerJoined
        case .customerParted: .customerParted
        case .customerUnmerged: .customerUnmerged
        case .customerErased: .customerErased
        case .erased(let type): type
        }
    }
}

/// What an event is about, beyond its stream.
package enum EventSubject: Hashable, Sendable {
    case project
    case customer
    case key(digest: String)
    case app(AppKey)
    case installation(AppID)
    case account(AppTransactionID)
    case purchase(PurchaseID)
    case grant(GrantID)
    case balance(CurrencyID)
    case order(OrderID)
    case token(AccountToken)
    case entitlement(EntitlementID)
}

extension Event {
    package var subject: EventSubject {
        switch self {
        case .projectCreated, .catalogChanged, .appAllowed, .appDisallowed, .projectChanged,
            .reconciliationStarted, .reconciliationFinished, .logAccepted, .webhookSet,
            .webhookRemoved:
            .project
        case .keyCreated(let created): .key(digest: created.digest)
        case .keyRevoked(let revoked): .key(digest: revoked.digest)
        case .keyRotated(let rotated): .key(digest: rotated.digest)
        case .appSet(let app): .app(app.key)
        case .appRemoved(let removed): .app(removed.key)
        case .purchaseMade(let fact), .subscriptionRenewed(let fact),
            .subscriptionUpgraded(let fact), .subscriptionExtended(let fact),
            .purchaseRefunded(let fact), .purchaseRevoked(let fact), .refundReversed(let fact),
            .purchaseRestated(let fact):
            .purchase(fact.purchase)
        case .renewalChanged(let fact), .renewalRestated(let fact): .purchase(fact.purchase)
        case .refundRequested(let fact), .refundDeclined(let fact): .purchase(fact.purchase)
        case .refundReportPrepared(let event): .purchase(event.purchase)
        case .refundReported(let event): .purchase(event.purchase)
        case .refundUnreported(let event): .purchase(event.purchase)
        case .purchaseAttached(let attached): .purchase(attached.purchase)
        case .purchaseDetached(let detached): .purchase(detached.purchase)
        case .purchaseBlocked(let change), .purchaseUnblocked(let change):
            .purchase(change.purchase)
        case .appInstalled(let fact): .installation(fact.app)
        case .consentRescinded(let fact): .account(fact.appTransaction)
        case .accountJoined(let joined): .account(joined.account)
        case .grantGiven(let given): .grant(given.grant)
        case .grantChanged(let changed): .grant(changed.grant)
        case .grantRevoked(let revoked): .grant(revoked.grant)
        case .balanceCredited(let event): .balance(event.currency)
        case .balanceDebited(let event): .balance(event.currency)
        case .balanceSpent(let event): .balance(event.currency)
        case .balanceAdjusted(let event): .balance(event.currency)
        case .orderOpened(let event): .order(event.order)
        case .orderFulfilled(let event): .order(event.order)
        case .orderClosed(let event): .order(event.order)
        case .tokenRegistered(let registered): .token(registered.token)
        case .accessStarted(let notice), .accessEnded(let notice), .accessEndingSoon(let notice):
            .entitlement(notice.entitlement)
        case .customerMerged, .customerJoined, .customerParted, .customerUnmerged, .customerErased,
            .noteAdded, .noteRemoved, .erased:
            .customer
        }
    }
}
