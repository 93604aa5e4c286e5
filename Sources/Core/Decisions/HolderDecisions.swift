/// A project's policy for a customer who proves a purchase that another customer holds.
package struct TransferPolicy: Hashable, Sendable {
    package enum Rule: String, Hashable, Sendable, CaseIterable {
        /// The current holder keeps the purchase.
        case keep
        /// The purchase moves to the submitter, unless it currently gives its holder access.
        case transferIfInactive = "transfer_if_inactive"
        /// The purchase moves to the submitter.
        case transfer
    }
    package let rule: Rule
    /// How long a moved purchase must stay with its new holder.
    package let coolDown: CalendarDuration

    package init(rule: Rule = .keep, coolDown: CalendarDuration = .days(1)) {
        self.rule = rule
        self.coolDown = coolDown
    }
}

/// Evidence of a purchase, and the customers to whom the evidence points.
package struct Contact: Hashable, Sendable {
    package let purchase: PurchaseID
    /// The customer named by the order and account tokens in all the evidence, if any.
    package let named: NamedHolder?
    /// The holder of the purchase that this one continues, if any.
    package let previousHolder: CustomerID?
    /// The customer who sent the evidence; `nil` if the store did.
    package let submitter: CustomerID?

    package init(
        purchase: PurchaseID, named: NamedHolder?, previousHolder: CustomerID? = nil,
        submitter: CustomerID?
    ) {
        self.purchase = purchase
        self.named = named
        self.previousHolder = previousHolder
        self.submitter = submitter
    }

    /// The customer who gets an unclaimed purchase. A customer named by the store takes precedence
    /// over the one who sent the evidence.
    fileprivate var claimant: CustomerID? { named?.customer ?? previousHolder ?? submitter }

    fileprivate func placement(
        with holder: CustomerID, movingFrom origin: Placement.Origin? = nil
    ) -> Placement {
        let isOwn = submitter == nil || submitter == holder
        return Placement(
            holder: holder, movingFrom: origin, refusal: isOwn ? nil : .move(.heldByAnother))
    }
}

/// A purchase's holder and that customer's state.
package struct Holder: Sendable {
    package let customer: CustomerID
    package let state: CustomerState

    package init(_ customer: CustomerID, _ state: CustomerState) {
        self.customer = customer
        self.state = state
    }
}

/// Where to record facts about a purchase. Facts are always recorded, because they are true regardless of the sender.
package struct Placement: Hashable, Sendable {
    package struct Origin: Hashable, Sendable {
        package let customer: CustomerID
        package let cause: MoveCause

        package init(_ customer: CustomerID, _ cause: MoveCause) {
            self.customer = customer
            self.cause = cause
        }
    }
    /// The purchase's holder, new or unchanged. This customer's stream records the facts.
    package let holder: CustomerID
    /// The holder whom the purchase leaves before the facts are recorded; `nil` if it does not move.
    package let origin: Origin?
    /// The refusal for the sender of the evidence if another customer holds the purchase. It does
    /// not reveal that customer.
    package let refusal: Refusal?

    package init(holder: CustomerID, movingFrom origin: Origin? = nil, refusal: Refusal? = nil) {
        self.holder = holder
        self.origin = origin
        self.refusal = refusal
    }
}

extension TransferPolicy {
    /// Decides who holds the purchase.
    package func place(
        _ contact: Contact, holder: Holder?, catalog: Catalog, now: Instant
    ) -> Placement {
        guard let holder, let purchase = holder.state.purchase(contact.purchase) else {
            return contact.placement(with: contact.claimant ?? .unclaimed(contact.purchase))
        }
        // The keeper may be named after another id of the purchase.
        if holder.customer.isReserved {
            guard let claimant = contact.claimant else {
                return Placement(holder: holder.customer)
            }
            return contact.placement(
                with: claimant, movingFrom: Placement.Origin(holder.customer, .claimed))
        }
        if let named = contact.named {
            // The purchase itself names its customer, so the sender of the evidence does not matter.
            if named.customer == holder.customer || holder.state.keepsAgainstTokens(purchase) {
                return contact.placement(with: holder.customer)
            }
            return contact.placement(
                with: named.customer,
                movingFrom: Placement.Origin(holder.customer, .named(named.token)))
        }
        guard let claimant = contact.submitter, claimant != holder.customer else {
            return Placement(holder: holder.customer)
        }
        do throws(Refusal) {
            try release(purchase, of: holder.state, catalog: catalog, now: now)
        } catch {
            return Placement(holder: holder.customer, refusal: error)
        }
        return Placement(
            holder: claimant, movingFrom: Placement.Origin(holder.customer, .transferred))
    }

    private func release(
        _ purchase: Purchase, of state: CustomerState, catalog: Catalog, now: Instant
    ) throws(Refusal) {
        if rule == .keep || state.isBoundByBalance(purchase, by: catalog) {
            throw .move(.heldByAnother)
        }
        if rule == .transferIfInactive, state.givesAccess(purchase.id, by: catalog, at: now) {
            throw .move(.heldByAnother)
        }
        if let arrival = purchase.arrival, arrival.cause.coolsDown {
            let end = coolDown.end(after: arrival.at)
            if now < end { throw .move(.movedRecently(until: end)) }
        }
    }
}

extension CustomerState {
    /// Returns whether the purchase has added, or would have added, to a balance. Neither credits nor the consumables
    /// behind them ever move.
    func isBoundByBalance(_ purchase: Purchase, by catalog: Catalog) -> Bool {
        purchase.kind(by: catalog) == .consumable || balances.hasCredits(of: purchase.id)
    }

    /// Returns whether any of the purchase's transactions gives access at that instant.
    func givesAccess(_ id: PurchaseID, by catalog: Catalog, at instant: Instant) -> Bool {
        rights(by: catalog).contains { right in
            guard case .transaction(_, let place, _) = right.source else { return false }
            return purchases[place].id == id && right.interval.contains(instant)
        }
    }
}

/// A request to move a purchase from its holder to another customer.
package struct MovePurchase: Sendable {
    package let purchase: PurchaseID
    package let from: CustomerID
    package let to: CustomerID
    package let cause: MoveCause
    package let catalog: Catalog

    package init(
        _ purchase: PurchaseID, from: CustomerID, to: CustomerID, cause: MoveCause,
        catalog: Catalog
    ) {
        self.purchase = purchase
        self.from = from
        self.to = to
        self.cause = cause
        self.catalog = catalog
    }

    /// Returns a request to undo the move by which the purchase reached its holder.
    package static func undoing(
        _ purchase: PurchaseID, heldBy holder: Holder, reason: Reason, ticket: Ticket?,
        catalog: Catalog
    ) throws(Refusal) -> MovePurchase {
        guard let held = holder.state.purchase(purchase) else { throw .move(.unknown(purchase)) }
        guard let arrival = held.arrival, arrival.cause != .claimed else {
            throw .move(.neverMoved(purchase))
        }
        return MovePurchase(
            purchase, from: holder.customer, to: arrival.from,
            cause: .undone(reason, ticket: ticket), catalog: catalog)
    }

    /// Returns the same move, redirected to the customer into whom the receiver has since been merged, if any.
    package func reaching(_ whole: CustomerID?) throws(Refusal) -> MovePurchase {
        guard let whole else { return self }
        if whole == from { throw .move(.cameFromPart(purchase, to)) }
        return MovePurchase(purchase, from: from, to: whole, cause: cause, catalog: catalog)
    }

    /// Returns the events for both streams. Either all of them are appended in one commit, or none is.
    package func decide(
        from holder: CustomerState, to claimant: CustomerState, now: Instant
    ) throws(Refusal) -> Move {
        var sides = (leaving: History(of: holder), arriving: History(of: claimant))
        try append(to: &sides.leaving, &sides.arriving, now: now)
        return Move(leaving: sides.leaving.events, arriving: sides.arriving.events)
    }

    /// Appends the move's events to both histories. Throws if the move is refused.
    func append(
        to leaving: inout History, _ arriving: inout History, named: NamedOrder? = nil, now: Instant
    ) throws(Refusal) {
        guard let held = leaving.state.purchase(purchase) else { throw .move(.unknown(purchase)) }
        if from == to { throw .move(.alreadyHeld(purchase)) }
        if isBound(held, leaving.state) { throw .move(.boundByBalance(purchase)) }
        arriving.append(
            .purchaseAttached(
                PurchaseAttached(
                    purchase: held.id, from: from, cause: cause, at: now, facts: held.facts,
                    reports: held.reports, earlierTokens: held.earlierTokens,
                    blocks: held.blocks)))
        for fact in held.facts.transactions { arriving.settle(fact, by: catalog, named: named) }
        leaving.append(
            .purchaseDetached(
                PurchaseDetached(purchase: held.id, to: to, cause: cause, at: now)))
    }
}

extension MovePurchase {
    private func isBound(_ held: Purchase, _ state: CustomerState) -> Bool {
        if from.isReserved { return false }
        // A consumable that has not added anything may still move if a token names another customer.
        if case .named = cause { return state.balances.hasCredits(of: purchase) }
        return state.isBoundByBalance(held, by: catalog)
    }
}

/// The two sides of a move.
package struct Move: Hashable, Sendable {
    /// For the stream of the previous holder.
    package let leaving: [Event]
    /// For the stream of the new holder.
    package let arriving: [Event]
}

extension Purchase {
    /// The keys under which to look up the purchase's holder, one for each app that its facts name.
    package var heldPurchases: [HeldPurchase] {
        let facts = facts
        if isRead {
            return Set(readings.map { HeldPurchase(app: $0.app, purchase: $0.purchase) })
                .union(readings.map { HeldPurchase(app: $0.app, purchase: id) }).map(\.self)
        }
        return Set(facts.transactions.map(\.app) + facts.renewals.map(\.app))
            .map { HeldPurchase(app: $0, purchase: id) }
    }

    /// Facts that reproduce this purchase when they are recorded in another stream.
    var facts: Facts {
        var facts = Facts()
        facts.transactions = isRead ? readings : evidence.flatMap(\.facts)
        facts.renewals = isRead ? [] : renewals
        facts.refunds = refundNews
        return facts
    }

    /// Tokens that are not in `facts`.
    var earlierTokens: [CarriedToken] {
        var told = CarriedTokens()
        told.join(facts)
        return carried.all.filter { !told.holds($0) }
    }
}
