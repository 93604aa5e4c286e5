import Core
import JSON

extension Event {
    /// The event as the log keeps it, without the name of its type.
    /// Nothing is left of one that was emptied.
    var payload: JSON { if case .erased = self { .null } else { body.payload } }

    private var body: any PayloadCodable {
        switch self {
        case .projectCreated(let event): event
        case .keyCreated(let event): event
        case .keyRevoked(let event): event
        case .keyRotated(let event): event
        case .catalogChanged(let event): event
        case .appSet(let event): event
        case .appRemoved(let event): event
        case .appAllowed(let event), .appDisallowed(let event): event
        case .projectChanged(let event): event
        case .reconciliationStarted(let event): event
        case .reconciliationFinished(let event): event
        case .logAccepted(let event): event
        case .webhookSet(let event): event
        case .webhookRemoved(let event): event
        case .purchaseMade(let fact), .subscriptionRenewed(let fact),
            .subscriptionUpgraded(let fact), .subscriptionExtended(let fact),
            .purchaseRefunded(let fact), .purchaseRevoked(let fact), .refundReversed(let fact),
            .purchaseRestated(let fact):
            fact
        case .renewalChanged(let fact), .renewalRestated(let fact): fact
        case .appInstalled(let fact): fact
        case .refundRequested(let fact), .refundDeclined(let fact): fact
        case .consentRescinded(let fact): fact
        case .accountJoined(let event): event
        case .refundReportPrepared(let event): event
        case .refundReported(let event): event
        case .refundUnreported(let event): event
        case .purchaseAttached(let event): event
        case .purchaseDetached(let event): event
        case .purchaseBlocked(let event), .purchaseUnblocked(let event): event
        case .grantGiven(let event): event
        case .grantChanged(let event): event
        case .grantRevoked(let event): event
        case .noteAdded(let event): event
        case .noteRemoved(let event): event
        case .balanceCredited(let event): event
        case .balanceDebited(let event): event
        case .balanceSpent(let event): event
        case .balanceAdjusted(let event): event
        case .orderOpened(let event): event
        case .orderFulfilled(let event): event
        case .orderClosed(let event): event
        case .tokenRegistered(let event): event
        case .accessStarted(let event), .accessEnded(let event), .accessEndingSoon(let event): event
        case .customerMerged(let event): event
        case .customerJoined(let event): event
        case .customerParted(let event): event
        case .customerUnmerged(let event): event
        case .customerErased(let event): event
        case .erased: preconditionFailure("an emptied event has no content")
        }
    }

    /// The log's format that a program must know to read the event: that of its type, or of the newest member in its
    /// payload. A released form is never changed: another one has another number, beside the reader of this one.
    var format: LogFormat { max(type.since, hasReading || hasNewReason ? .readings : .first) }

    /// Why a key was revoked or a catalog replaced.
    private var hasNewReason: Bool {
        switch self {
        case .keyRevoked(let event): event.reason != nil || event.ticket != nil
        case .catalogChanged(let event): event.reason != nil || event.ticket != nil
        default: false
        }
    }

    private var hasReading: Bool {
        if case .purchaseAttached(let attached) = self {
            return attached.transactions.contains { $0.reading != nil }
        }
        return transactionFact?.reading != nil
    }

    /// Reads an event of the log back.
    init(type: String, format: Int16, payload: String) throws(LedgerError) {
        let written = LogFormat(Int(format))
        if !(LogFormat.first...LogFormat.own).contains(written) {
            throw .tooNew("an event of type \(type) in the format \(format)")
        }
        do {
            guard let known = EventType(rawValue: type) else {
                _ = try JSON.read(payload)
                throw LedgerError.tooNew("an event of type \(type)")
            }
            // Only customers are erased. That an erasure follows is checked where the stream is read.
            if payload.isEmpty, known.mayBeEmptied {
                self = .erased(known)
                return
            }
            try self.init(known, Payload(try JSON.read(payload)))
            if self.format != written {
                throw LedgerError.tooNew("an event of type \(type) in the format \(format)")
            }
        } catch let error as LedgerError {
            throw error
        } catch {
            throw .unreadable("a payload of type \(type): \(error)")
        }
    }

    private init(_ type: EventType, _ payload: Payload) throws {
        switch type {
        case .projectCreated: self = .projectCreated(try ProjectCreated(payload))
        case .keyCreated: self = .keyCreated(try KeyCreated(payload))
        case .keyRevoked: self = .keyRevoked(try KeyRevoked(payload))
        case .keyRotated: self = .keyRotated(try KeyRotated(payload))
        case .catalogChanged: self = .catalogChanged(try CatalogChanged(payload))
        case .appSet: self = .appSet(try App(payload))
        case .appAllowed: self = .appAllowed(try AppAllowance(payload))
        case .appDisallowed: self = .appDisallowed(try AppAllowance(payload))
        case .appRemoved: self = .appRemoved(try AppRemoved(payload))
        case .projectChanged: self = .projectChanged(try ProjectSettings(payload))
        case .purchaseMade: self = .purchaseMade(try TransactionFact(payload))
        case .subscriptionRenewed: self = .subscriptionRenewed(try TransactionFact(payload))
        case .subscriptionUpgraded: self = .subscriptionUpgraded(try TransactionFact(payload))
        case .subscriptionExtended: self = .subscriptionExtended(try TransactionFact(payload))
        case .purchaseRefunded: self = .purchaseRefunded(try TransactionFact(payload))
        case .purchaseRevoked: self = .purchaseRevoked(try TransactionFact(payload))
        case .refundReversed: self = .refundReversed(try TransactionFact(payload))
        case .purchaseRestated: self = .purchaseRestated(try TransactionFact(payload))
        case .renewalChanged: self = .renewalChanged(try RenewalFact(payload))
        case .renewalRestated: self = .renewalRestated(try RenewalFact(payload))
        case .appInstalled: self = .appInstalled(try AppFact(payload))
        case .refundRequested: self = .refundRequested(try RefundFact(payload))
        case .refundDeclined: self = .refundDeclined(try RefundFact(payload))
        case .accountJoined: self = .accountJoined(try AccountJoined(payload))
        case .consentRescinded: self = .consentRescinded(try ConsentFact(payload))
        case .refundReportPrepared: self = .refundReportPrepared(try RefundReportPrepared(payload))
        case .refundReported: self = .refundReported(try RefundReported(payload))
        case .refundUnreported: self = .refundUnreported(try RefundUnreported(payload))
        case .purchaseAttached: self = .purchaseAttached(try PurchaseAttached(payload))
        case .purchaseDetached: self = .purchaseDetached(try PurchaseDetached(payload))
        case .purchaseBlocked: self = .purchaseBlocked(try BlockChanged(payload))
        case .purchaseUnblocked: self = .purchaseUnblocked(try BlockChanged(payload))
        case .grantGiven: self = .grantGiven(try GrantGiven(payload))
        case .grantChanged: self = .grantChanged(try GrantChanged(payload))
        case .grantRevoked: self = .grantRevoked(try GrantRevoked(payload))
        case .noteAdded: self = .noteAdded(try NoteAdded(payload))
        case .noteRemoved: self = .noteRemoved(try NoteRemoved(payload))
        case .balanceCredited: self = .balanceCredited(try BalanceCredited(payload))
        case .balanceDebited: self = .balanceDebited(try BalanceDebited(payload))
        case .balanceSpent: self = .balanceSpent(try BalanceSpent(payload))
        case .balanceAdjusted: self = .balanceAdjusted(try BalanceAdjusted(payload))
        case .orderOpened: self = .orderOpened(try OrderOpened(payload))
        case .orderFulfilled: self = .orderFulfilled(try OrderFulfilled(payload))
        case .orderClosed: self = .orderClosed(try OrderClosed(payload))
        case .tokenRegistered: self = .tokenRegistered(try TokenRegistered(payload))
        case .reconciliationStarted:
            self = .reconciliationStarted(try ReconciliationStarted(payload))
        case .reconciliationFinished:
            self = .reconciliationFinished(try ReconciliationFinished(payload))
        case .logAccepted: self = .logAccepted(try LogAccepted(payload))
        case .webhookSet: self = .webhookSet(try Webhook(payload))
        case .webhookRemoved: self = .webhookRemoved(try WebhookRemoved(payload))
        case .accessStarted: self = .accessStarted(try AccessNotice(payload))
        case .accessEnded: self = .accessEnded(try AccessNotice(payload))
        case .accessEndingSoon: self = .accessEndingSoon(try AccessNotice(payload))
        case .customerMerged: self = .customerMerged(try CustomerMerged(payload))
        case .customerJoined: self = .customerJoined(try CustomerJoined(payload))
        case .customerParted: self = .customerParted(try CustomerParted(payload))
        case .customerUnmerged: self = .customerUnmerged(try CustomerUnmerged(payload))
        case .customerErased: self = .customerErased(try CustomerErased(payload))
        }
    }
}
