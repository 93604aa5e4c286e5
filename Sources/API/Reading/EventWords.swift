package import Core

extension RecordedEvent {
    /// What the event is about, in the words of answers.
    package var subject: String {
        switch event.subject {
        case .purchase(let purchase): purchase.description
        case .grant(let grant): grant.text
        case .installation(let app): app.text
        case .project, .customer, .key, .app, .account, .balance, .order, .token, .entitlement:
            stream.customer.text
        }
    }

    /// What an explanation says of the event, which is every type that `EventType.telling` puts into words:
    /// who decided it and why, and which token brought a purchase.
    package var words: String? {
        switch event {
        case .grantGiven(let given):
            deed("gave the grant \(given.grant)", given.reason, given.ticket)
        case .grantChanged(let changed):
            deed("gave the grant \(changed.grant) another end", changed.reason, changed.ticket)
        case .grantRevoked(let revoked):
            deed("revoked the grant \(revoked.grant)", revoked.reason, revoked.ticket)
        case .purchaseBlocked(let change):
            deed("blocked purchase \(change.purchase)", change.reason, change.ticket, at: change.at)
        case .purchaseUnblocked(let change):
            deed(
                "took the block of purchase \(change.purchase) back", change.reason,
                change.ticket, at: change.at)
        case .purchaseAttached(let attached): arrival(attached)
        case .purchaseMade, .subscriptionRenewed, .subscriptionUpgraded, .subscriptionExtended,
            .purchaseRefunded, .purchaseRevoked, .refundReversed, .purchaseRestated,
            .renewalChanged, .renewalRestated, .appInstalled, .refundRequested, .refundDeclined,
            .consentRescinded, .accountJoined, .refundReportPrepared, .refundReported,
            .refundUnreported, .purchaseDetached, .noteAdded, .noteRemoved, .balanceCredited,
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

    /// What its actor did and why; when it was recorded, unless another instant counts.
    private func deed(
        _ what: String, _ reason: Reason, _ ticket: Ticket?, at instant: Instant? = nil
    ) -> String {
        let ticket = ticket.map { " (\($0))" } ?? ""
        return "\(actor) \(what) at \((instant ?? recordedAt).text): \(reason)\(ticket)."
    }

    private func arrival(_ attached: PurchaseAttached) -> String? {
        guard case .named(let token) = attached.cause else { return nil }
        return "Purchase \(attached.purchase) came from another customer at \(recordedAt.text): "
            + "it carries the account token \(token), which is this customer's."
    }
}
