package import Core

/// A purchase that an admin moved.
package struct MoveAnswer: Hashable, Sendable {
    /// The previous holder's stream.
    package let stream: Stream
    package let moved: PurchaseDetached
    package let position: Position
}

/// Lets admins move purchases between customers.
package struct Moves: Sendable {
    let ledger: any EventLog
    let secrets: Secrets

    /// Returns a request to move a purchase from its holder to another customer.
    package func transferring(
        _ purchase: PurchaseID, from stream: Stream, to customer: CustomerID, reason: AdminReason,
        by sender: Sender
    ) -> Wish<MoveAnswer> {
        let cause = secrets.cause(
            of: sender, "transfer", [purchase.description, customer.text] + reason.arguments)
        return moving(purchase, of: stream, actor: sender.actor, cause: cause) {
            holder, catalog in
            MovePurchase(
                purchase, from: holder.customer, to: customer,
                cause: .admin(reason.reason, ticket: reason.ticket), catalog: catalog)
        }
    }

    /// Returns a request to move a purchase back to its previous holder, or to the customer into whom that holder was
    /// merged.
    package func undoing(
        _ purchase: PurchaseID, of stream: Stream, reason: AdminReason, by sender: Sender
    ) -> Wish<MoveAnswer> {
        let cause = secrets.cause(
            of: sender, "undo_transfer", [purchase.description] + reason.arguments)
        return moving(
            purchase, of: stream, actor: sender.actor, cause: cause, reachesWhole: true
        ) {
            holder, catalog throws(Refusal) in
            try .undoing(
                purchase, heldBy: holder, reason: reason.reason, ticket: reason.ticket,
                catalog: catalog)
        }
    }

    private func moving(
        _ purchase: PurchaseID, of stream: Stream, actor: Actor, cause: Cause,
        reachesWhole: Bool = false,
        wish: @escaping @Sendable (Holder, Catalog) throws(Refusal) -> MovePurchase
    ) -> Wish<MoveAnswer> {
        .lookingAgain(at: purchase) { () throws(CommandError) in
            let command = try move(
                purchase, of: stream, actor: actor, cause: cause, reachesWhole: reachesWhole,
                wish: wish)
            return Wish(
                command,
                telling: { if case .purchaseDetached(let moved) = $0 { moved } else { nil } },
                missing: "moving a purchase recorded no move"
            ) { recorded in
                MoveAnswer(stream: stream, moved: recorded.told, position: recorded.position)
            }
        }
    }

    private func move(
        _ purchase: PurchaseID, of stream: Stream, actor: Actor, cause: Cause,
        reachesWhole: Bool,
        wish: @escaping @Sendable (Holder, Catalog) throws(Refusal) -> MovePurchase
    ) throws(CommandError) -> Command {
        let snapshot = try obtain(ledger.customer(of: stream))
        var concerned = snapshot.concerned(by: wish, about: purchase, holder: stream.customer)
        var bystanders: Set<CustomerID> = []
        if reachesWhole, let receiver = concerned?.receivers.first {
            let other = Stream(
                project: stream.project, environment: stream.environment, customer: receiver)
            let whole = try obtain(ledger.customer(of: other)).customer.mergedInto
            // The command loads the purchase's holder without being told to.
            concerned?.receivers += [whole].compactMap(\.self).filter { $0 != stream.customer }
            if whole != nil { bystanders = [receiver] }
        }
        let receivers = concerned?.receivers ?? []
        let known = concerned
        var command = Command(stream: stream, actor: actor, cause: cause) {
            situation throws(Refusal) in
            let holder = Holder(stream.customer, situation.customer(stream.customer))
            var wish = try wish(holder, situation.project.catalog)
            let held = holder.state.purchase(purchase)?.heldPurchases ?? []
            // Returns whether the customer's stream was looked up in advance. Only such streams are
            // locked and loaded.
            func isKnown(_ customer: CustomerID) -> Bool { receivers.contains(customer) }
            if !held.isEmpty, !isKnown(wish.to) || !known.names(held) {
                throw .move(.changedMeanwhile(purchase))
            }
            if reachesWhole {
                wish = try wish.reaching(situation.customer(wish.to).mergedInto)
                if !held.isEmpty, !isKnown(wish.to) { throw .move(.changedMeanwhile(purchase)) }
            }
            let move = try wish.decide(
                from: holder.state, to: situation.customer(wish.to), now: situation.now)
            return Decision(parts: [
                Decision.Part(customer: wish.from, events: move.leaving),
                Decision.Part(customer: wish.to, events: move.arriving),
            ])
        }
        command.purchases = known?.held ?? []
        command.customers = receivers
        command.bystanders = bystanders
        return command
    }
}

/// The customers besides the holder whom a move concerns, and the keys for finding the purchase.
private struct Concerned: Sendable {
    var receivers: [CustomerID]
    let held: [HeldPurchase]
}

extension Concerned? {
    fileprivate func names(_ held: [HeldPurchase]) -> Bool {
        Set(held).isSubset(of: Set(self?.held ?? []))
    }
}

extension CustomerSnapshot {
    /// Returns `nil` if nothing has to move. The command's decision then states why, or gives the result of an
    /// earlier copy of the command.
    fileprivate func concerned(
        by wish: (Holder, Catalog) throws(Refusal) -> MovePurchase, about purchase: PurchaseID,
        holder: CustomerID
    ) -> Concerned? {
        guard let held = customer.purchase(purchase),
            let wish = try? wish(Holder(holder, customer), project.catalog)
        else { return nil }
        return Concerned(receivers: [wish.to], held: held.heldPurchases)
    }
}

extension AdminReason {
    fileprivate var arguments: [String?] { [reason.text, ticket?.text] }
}
