package import Core

/// A purchase that has not been claimed, with its state.
package struct UnclaimedAnswer: Hashable, Sendable {
    package let stream: Stream
    package let since: Instant
    package let purchase: Purchase
    package let catalog: Catalog

    /// The purchase's account tokens, sorted and without duplicates.
    package var tokens: [String] {
        let facts = purchase.evidence.map(\.effective.accountToken)
        let all = facts + purchase.renewals.map(\.accountToken)
        return Set(all.compactMap(\.self).compactMap(AccountToken.init).map(\.text)).sorted()
    }
}

/// Some unclaimed purchases, sorted by store and id.
package struct UnclaimedListAnswer: Hashable, Sendable {
    package let project: ProjectID
    package let environment: Environment
    package let purchases: [UnclaimedAnswer]
    /// The last purchase of this page; `nil` if this is the last page.
    package let next: PurchaseID?
}

/// A purchase that an admin attached to a customer.
package struct AttachAnswer: Hashable, Sendable {
    /// The new holder's stream.
    package let stream: Stream
    package let attached: PurchaseAttached
    package let position: Position
}

/// Lists unclaimed purchases, and lets admins attach them to customers.
package struct Unclaimed: Sendable {
    let ledger: any EventLog
    let directory: any Directory
    let secrets: Secrets

    /// Returns up to `limit` unclaimed purchases after `last`.
    package func list(
        of project: ProjectID, in environment: Environment, after last: PurchaseID?, limit: Int
    ) throws(CommandError) -> UnclaimedListAnswer {
        let catalog = try ledger.existing(project).catalog
        let found = try obtain(
            directory.unclaimed(of: project, environment, after: last, limit: limit + 1))
        let purchases = found.prefix(limit).compactMap { listed in
            listed.state.purchase(listed.purchase).map {
                UnclaimedAnswer(
                    stream: Stream(
                        project: project, environment: environment,
                        customer: .unclaimed(listed.purchase)),
                    since: listed.since, purchase: $0, catalog: catalog)
            }
        }
        return UnclaimedListAnswer(
            project: project, environment: environment, purchases: purchases,
            next: found.count > limit ? found[limit - 1].purchase : nil)
    }

    package func find(
        _ id: PurchaseID, of project: ProjectID, in environment: Environment
    ) throws(CommandError) -> UnclaimedAnswer {
        let stream = Stream(project: project, environment: environment, customer: .unclaimed(id))
        let snapshot = try obtain(ledger.customer(of: stream))
        let first = try obtain(ledger.events(of: stream, after: 0, limit: 1)).first
        guard let purchase = snapshot.customer.purchase(id), let first else {
            throw .refused(.token(.notUnclaimed(id)))
        }
        return UnclaimedAnswer(
            stream: stream, since: purchase.arrival?.at ?? first.recorded.recordedAt,
            purchase: purchase,
            catalog: snapshot.project.catalog)
    }

    /// Returns an admin's request to attach an unclaimed purchase to a customer.
    package func attaching(
        _ purchase: PurchaseID, to stream: Stream, reason: AdminReason, by sender: Sender
    ) -> Wish<AttachAnswer> {
        let cause = secrets.cause(
            of: sender, "attach", [purchase.description, reason.reason.text, reason.ticket?.text])
        return .lookingAgain(at: purchase) { () throws(CommandError) in
            let command = try attach(purchase, to: stream, reason, sender.actor, cause)
            return Wish(
                command,
                telling: { if case .purchaseAttached(let attached) = $0 { attached } else { nil } },
                missing: "attaching a purchase recorded no move"
            ) { recorded in
                AttachAnswer(stream: stream, attached: recorded.told, position: recorded.last)
            }
        }
    }

    private func attach(
        _ purchase: PurchaseID, to stream: Stream, _ reason: AdminReason, _ actor: Actor,
        _ cause: Cause
    ) throws(CommandError) -> Command {
        let keeper = CustomerID.unclaimed(purchase)
        let kept = Stream(
            project: stream.project, environment: stream.environment, customer: keeper)
        let snapshot = try obtain(ledger.customer(of: kept))
        let known = snapshot.customer.purchase(purchase)?.heldPurchases ?? []
        var command = Command(stream: stream, actor: actor, cause: cause) {
            situation throws(Refusal) in
            let waiting = situation.customer(keeper)
            guard let held = waiting.purchase(purchase) else {
                throw .token(.notUnclaimed(purchase))
            }
            // Only purchases that were looked up in advance are locked and loaded.
            if !Set(held.heldPurchases).isSubset(of: known) {
                throw .move(.changedMeanwhile(purchase))
            }
            let move = try MovePurchase(
                purchase, from: keeper, to: stream.customer,
                cause: .admin(reason.reason, ticket: reason.ticket),
                catalog: situation.project.catalog
            ).decide(
                from: waiting, to: situation.customer(stream.customer), now: situation.now)
            return Decision(parts: [
                Decision.Part(customer: stream.customer, events: move.arriving),
                Decision.Part(customer: keeper, events: move.leaving),
            ])
        }
        command.purchases = known
        command.customers = [keeper]
        return command
    }
}
