package import Core

/// A purchase that an admin moved.
package struct MoveAnswer: Hashable, Sendable {
    /// Of who held it before.
    package let stream: Stream
    package let moved: PurchaseDetached
    package let position: Position
}

extension Ports {
    /// Moves a purchase from the customer who holds it to another one.
    package func transfer(
        _ purchase: PurchaseID, from stream: Stream, to customer: CustomerID, reason: AdminReason,
        by sender: Sender
    ) throws(CommandError) -> MoveAnswer {
        let cause = secrets.cause(
            of: sender, "transfer", [purchase.description, customer.text] + reason.arguments)
        return try move(purchase, of: stream, actor: sender.actor, cause: cause) {
            holder, catalog in
            MovePurchase(
                purchase, from: holder.customer, to: customer,
                cause: .admin(reason.reason, ticket: reason.ticket), catalog: catalog)
        }
    }

    /// Moves a purchase back to whom it came from.
    package func undoTransfer(
        _ purchase: PurchaseID, of stream: Stream, reason: AdminReason, by sender: Sender
    ) throws(CommandError) -> MoveAnswer {
        let cause = secrets.cause(
            of: sender, "undo_transfer", [purchase.description] + reason.arguments)
        return try move(purchase, of: stream, actor: sender.actor, cause: cause) {
            holder, catalog throws(Refusal) in
            try .undoing(
                purchase, heldBy: holder, reason: reason.reason, ticket: reason.ticket,
                catalog: catalog)
        }
    }

    /// Looks again where the purchase changed between the look and the decision.
    private func move(
        _ purchase: PurchaseID, of stream: Stream, actor: Actor, cause: Cause,
        wish: @escaping @Sendable (Holder, Catalog) throws(Refusal) -> MovePurchase
    ) throws(CommandError) -> MoveAnswer {
        let attempts = 3
        for _ in 1..<attempts {
            do throws(CommandError) {
                return try attempt(purchase, of: stream, actor: actor, cause: cause, wish: wish)
            } catch {
                if error != .refused(.purchaseChangedMeanwhile(purchase)) { throw error }
            }
        }
        return try attempt(purchase, of: stream, actor: actor, cause: cause, wish: wish)
    }

    private func attempt(
        _ purchase: PurchaseID, of stream: Stream, actor: Actor, cause: Cause,
        wish: @escaping @Sendable (Holder, Catalog) throws(Refusal) -> MovePurchase
    ) throws(CommandError) -> MoveAnswer {
        let snapshot = try obtain { () throws(Fault) in try ledger.customer(stream) }
        let concerned = snapshot.concerned(by: wish, about: purchase, holder: stream.customer)
        var command = Command(stream: stream, actor: actor, cause: cause) {
            situation throws(Refusal) in
            let holder = Holder(stream.customer, situation.customer(stream.customer))
            let wish = try wish(holder, situation.project.catalog)
            let held = holder.state.purchase(purchase)?.heldPurchases ?? []
            // What was looked up beforehand is all that is locked and known.
            if !held.isEmpty, wish.to != concerned?.receiver || !concerned.names(held) {
                throw .purchaseChangedMeanwhile(purchase)
            }
            let move = try wish.decide(
                from: holder.state, to: situation.customer(wish.to), now: situation.now)
            return Decision(parts: [
                Decision.Part(customer: wish.from, events: move.leaving),
                Decision.Part(customer: wish.to, events: move.arriving),
            ])
        }
        command.purchases = concerned?.held ?? []
        command.customers = concerned.map { [$0.receiver] } ?? []
        let outcome = try ledger.append(command)
        guard let recorded = outcome.events.first,
            case .purchaseDetached(let moved) = recorded.event
        else { throw .fault(.broken("moving a purchase recorded no move")) }
        return MoveAnswer(stream: stream, moved: moved, position: recorded.position)
    }
}

/// Whom a move concerns beside the holder, and by what its purchase is found.
private struct Concerned: Sendable {
    let receiver: CustomerID
    let held: [HeldPurchase]
}

extension Concerned? {
    fileprivate func names(_ held: [HeldPurchase]) -> Bool {
        Set(held).isSubset(of: Set(self?.held ?? []))
    }
}

extension CustomerSnapshot {
    /// `nil` when nothing can move, or nothing any more: then the decision tells why, or what came
    /// of the command's twin.
    fileprivate func concerned(
        by wish: (Holder, Catalog) throws(Refusal) -> MovePurchase, about purchase: PurchaseID,
        holder: CustomerID
    ) -> Concerned? {
        guard let held = customer.purchase(purchase),
            let wish = try? wish(Holder(holder, customer), project.catalog)
        else { return nil }
        return Concerned(receiver: wish.to, held: held.heldPurchases)
    }
}

extension AdminReason {
    fileprivate var arguments: [String?] { [reason.text, ticket?.text] }
}
