import Core
import JSON

extension Event {
    /// The event as the log keeps it, without the name of its type.
    var payload: JSON { body.payload }

    private var body: any PayloadCodable {
        switch self {
        case .projectCreated(let event): event
        case .keyCreated(let event): event
        case .keyRevoked(let event): event
        case .catalogChanged(let event): event
        case .appSet(let event): event
        case .appRemoved(let event): event
        case .appAllowed(let event), .appDisallowed(let event): event
        case .projectChanged(let event): event
        case .reconciliationStarted(let event): event
        case .reconciliationFinished(let event): event
        case .logAccepted(let event): event
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
        case .grantGiven(let event): event
        case .grantRevoked(let event): event
        case .balanceCredited(let event): event
        case .balanceDebited(let event): event
        case .balanceSpent(let event): event
        case .balanceAdjusted(let event): event
        case .orderOpened(let event): event
        case .orderFulfilled(let event): event
        case .orderClosed(let event): event
        case .tokenRegistered(let event): event
        case .accessStarted(let event), .accessEnded(let event), .accessEndingSoon(let event): event
        case .customerErased(let event): event
        }
    }

    /// In which form payloads are written. A released form is never changed: another one has another
    /// number, beside the reader of this one.
    static let format: Int16 = 1

    /// Reads an event of the log back.
    init(type: String, format: Int16, payload: String) throws(LedgerError) {
        if format != Event.format {
            throw .unreadable(
                "an event of type \(type) in the format \(format), which is not known")
        }
        do {
            let payload = Payload(try JSON.read(payload))
            guard let read = Event.readers[type] else {
                throw LedgerError.unreadable("events of type \(type) are not known")
            }
            self = try read(payload)
        } catch let error as LedgerError {
            throw error
        } catch {
            throw .unreadable("a payload of type \(type): \(error)")
        }
    }

    private typealias Reader = @Sendable (Payload) throws -> Event

    private static let readers: [String: Reader] = [
        "project.created": { .projectCreated(try ProjectCreated($0)) },
        "key.created": { .keyCreated(try KeyCreated($0)) },
        "key.revoked": { .keyRevoked(try KeyRevoked($0)) },
        "catalog.changed": { .catalogChanged(try CatalogChanged($0)) },
        "app.set": { .appSet(try App($0)) },
        "app.allowed": { .appAllowed(try AppAllowance($0)) },
        "app.disallowed": { .appDisallowed(try AppAllowance($0)) },
        "app.removed": { .appRemoved(try AppRemoved($0)) },
        "project.changed": { .projectChanged(try ProjectSettings($0)) },
        "purchase.made": { .purchaseMade(try TransactionFact($0)) },
        "subscription.renewed": { .subscriptionRenewed(try TransactionFact($0)) },
        "subscription.upgraded": { .subscriptionUpgraded(try TransactionFact($0)) },
        "subscription.extended": { .subscriptionExtended(try TransactionFact($0)) },
        "purchase.refunded": { .purchaseRefunded(try TransactionFact($0)) },
        "purchase.revoked": { .purchaseRevoked(try TransactionFact($0)) },
        "refund.reversed": { .refundReversed(try TransactionFact($0)) },
        "purchase.restated": { .purchaseRestated(try TransactionFact($0)) },
        "renewal.changed": { .renewalChanged(try RenewalFact($0)) },
        "renewal.restated": { .renewalRestated(try RenewalFact($0)) },
        "app.installed": { .appInstalled(try AppFact($0)) },
        "refund.requested": { .refundRequested(try RefundFact($0)) },
        "refund.declined": { .refundDeclined(try RefundFact($0)) },
        "account.joined": { .accountJoined(try AccountJoined($0)) },
        "consent.rescinded": { .consentRescinded(try ConsentFact($0)) },
        "refund.report_prepared": { .refundReportPrepared(try RefundReportPrepared($0)) },
        "refund.reported": { .refundReported(try RefundReported($0)) },
        "refund.unreported": { .refundUnreported(try RefundUnreported($0)) },
        "purchase.attached": { .purchaseAttached(try PurchaseAttached($0)) },
        "purchase.detached": { .purchaseDetached(try PurchaseDetached($0)) },
        "grant.given": { .grantGiven(try GrantGiven($0)) },
        "grant.revoked": { .grantRevoked(try GrantRevoked($0)) },
        "balance.credited": { .balanceCredited(try BalanceCredited($0)) },
        "balance.debited": { .balanceDebited(try BalanceDebited($0)) },
        "balance.spent": { .balanceSpent(try BalanceSpent($0)) },
        "balance.adjusted": { .balanceAdjusted(try BalanceAdjusted($0)) },
        "order.opened": { .orderOpened(try OrderOpened($0)) },
        "order.fulfilled": { .orderFulfilled(try OrderFulfilled($0)) },
        "order.closed": { .orderClosed(try OrderClosed($0)) },
        "token.registered": { .tokenRegistered(try TokenRegistered($0)) },
        "reconciliation.started": { .reconciliationStarted(try ReconciliationStarted($0)) },
        "reconciliation.finished": { .reconciliationFinished(try ReconciliationFinished($0)) },
        "log.accepted": { .logAccepted(try LogAccepted($0)) },
        "access.started": { .accessStarted(try AccessNotice($0)) },
        "access.ended": { .accessEnded(try AccessNotice($0)) },
        "access.ending_soon": { .accessEndingSoon(try AccessNotice($0)) },
        "customer.erased": { .customerErased(try CustomerErased($0)) },
    ]
}
