extension Event {
    /// The stable name under which the event is kept and shown.
    package var typeName: String {
        switch self {
        case .projectCreated: "project.created"
        case .keyCreated: "key.created"
        case .keyRevoked: "key.revoked"
        case .catalogChanged: "catalog.changed"
        case .appSet: "app.set"
        case .appRemoved: "app.removed"
        case .appAllowed: "app.allowed"
        case .appDisallowed: "app.disallowed"
        case .projectChanged: "project.changed"
        case .reconciliationStarted: "reconciliation.started"
        case .reconciliationFinished: "reconciliation.finished"
        case .logAccepted: "log.accepted"
        case .purchaseMade: "purchase.made"
        case .subscriptionRenewed: "subscription.renewed"
        case .subscriptionUpgraded: "subscription.upgraded"
        case .subscriptionExtended: "subscription.extended"
        case .purchaseRefunded: "purchase.refunded"
        case .purchaseRevoked: "purchase.revoked"
        case .refundReversed: "refund.reversed"
        case .purchaseRestated: "purchase.restated"
        case .renewalChanged: "renewal.changed"
        case .renewalRestated: "renewal.restated"
        case .appInstalled: "app.installed"
        case .refundRequested: "refund.requested"
        case .refundDeclined: "refund.declined"
        case .consentRescinded: "consent.rescinded"
        case .accountJoined: "account.joined"
        case .refundReportPrepared: "refund.report_prepared"
        case .refundReported: "refund.reported"
        case .refundUnreported: "refund.unreported"
        case .purchaseAttached: "purchase.attached"
        case .purchaseDetached: "purchase.detached"
        case .grantGiven: "grant.given"
        case .grantRevoked: "grant.revoked"
        case .balanceCredited: "balance.credited"
        case .balanceDebited: "balance.debited"
        case .balanceSpent: "balance.spent"
        case .balanceAdjusted: "balance.adjusted"
        case .orderOpened: "order.opened"
        case .orderFulfilled: "order.fulfilled"
        case .orderClosed: "order.closed"
        case .tokenRegistered: "token.registered"
        case .accessStarted: "access.started"
        case .accessEnded: "access.ended"
        case .accessEndingSoon: "access.ending_soon"
        case .customerErased: "customer.erased"
        }
    }

    /// When it happened by the clock of the store, for what a store reported.
    package var statedAt: Instant? {
        switch self {
        case .purchaseMade(let fact), .subscriptionRenewed(let fact): fact.purchased
        case .purchaseRefunded(let fact), .purchaseRevoked(let fact):
            fact.revocation?.at ?? fact.signedAt
        case .subscriptionUpgraded(let fact), .subscriptionExtended(let fact),
            .refundReversed(let fact), .purchaseRestated(let fact):
            fact.signedAt
        case .renewalChanged(let fact), .renewalRestated(let fact): fact.signedAt
        case .appInstalled(let fact): fact.originallyPurchased ?? fact.signedAt
        case .accessStarted(let notice), .accessEnded(let notice), .accessEndingSoon(let notice):
            notice.at
        case .refundRequested(let fact), .refundDeclined(let fact): fact.signedAt
        case .consentRescinded(let fact): fact.signedAt
        default: nil
        }
    }

    /// The store's transaction that the event states something about.
    package var transactionFact: TransactionFact? {
        switch self {
        case .purchaseMade(let fact), .subscriptionRenewed(let fact),
            .subscriptionUpgraded(let fact), .subscriptionExtended(let fact),
            .purchaseRefunded(let fact), .purchaseRevoked(let fact), .refundReversed(let fact),
            .purchaseRestated(let fact):
            fact
        default: nil
        }
    }
}

extension Event {
    /// Of a project's events those on which no answer about a customer depends.
    package static let typesBesideAnswers: Set<String> = [
        "key.created", "key.revoked", "reconciliation.started", "reconciliation.finished",
        "log.accepted", "app.allowed", "app.disallowed",
    ]

    /// Whether answers about the project's customers may depend on it.
    var isAboutAnswers: Bool {
        !Event.typesBesideAnswers.contains(typeName)
    }
}
