/// What a project does when a customer proves a purchase that another customer holds.
package struct TransferPolicy: Hashable, Sendable {
    package enum Rule: String, Hashable, Sendable, CaseIterable {
        /// The holder keeps it.
        case keep
        /// It moves, unless it gives its holder access at that moment.
        case transferIfInactive = "transfer_if_inactive"
        /// It moves.
        case transfer
    }
    package let rule: Rule
    /// How long a moved purchase stays with its new holder.
    package let coolDown: CalendarDuration

    package init(rule: Rule = .keep, coolDown: CalendarDuration = .days(1)) {
        self.rule = rule
        self.coolDown = coolDown
    }
}

/// Evidence of a purchase, and the customers to whom it points.
package struct Contact: Hashable, Sendable {
    package let purchase: PurchaseID
    /// The customer whom the order and account tokens of all the evidence name, if any.
    package let named: NamedHolder?
    /// The holder of the purchase that this one continues, if any.
    package let previousHolder: CustomerID?
    /// Who sent the evidence; `nil` if the store did.
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

    /// The customer who gets an unclaimed purchase. The one whom the store names comes before the one who
    /// sent the evidence.
    fileprivate var claimant: CustomerID? { named?.customer ?? previousHolder ?? submitter }

    fileprivate func placement(
        with holder: CustomerID, movingFrom origin: Placement.Origin? = nil
    ) -> Placement {
        let isOwn = submitter == nil || submitter == holder
        return Placement(
            holder: holder, movingFrom: origin, refusal: isOwn ? nil : .heldByAnother)
    }
}

/// The holder of a purchase, with that customer's state.
package struct Holder: Sendable {
    package let customer: CustomerID
    package let state: CustomerState

    package init(_ customer: CustomerID, _ state: CustomerState) {
        self.customer = customer
        self.state = state
    }
}

/// Where to record facts about a purchase. They are always recorded: they are true, no matter who sends
/// them.
package struct Placement: Hashable, Sendable {
    package struct Origin: Hashable, Sendable {
        package let customer: CustomerID
        package let cause: MoveCause

        package init(_ customer: CustomerID, _ cause: MoveCause) {
            self.customer = customer
            self.cause = cause
        }
    }
    /// The purchase's holder from now on; the facts are recorded with this customer.
    package let holder: CustomerID
    /// The holder from whom the purchase moves first.
    package let origin: Origin?
    /// What the customer who sent the evidence learns if another one holds the purchase. It does
    /// not reveal the holder.
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
        let unclaimed = CustomerID.unclaimed(contact.purchase)
        guard let holder, let purchase = holder.state.purchase(contact.purchase) else {
            return contact.placement(with: contact.claimant ?? unclaimed)
        }
        if holder.customer == unclaimed {
            guard let claimant = contact.claimant else { return Placement(holder: unclaimed) }
            return contact.placement(
                with: claimant, movingFrom: Placement.Origin(unclaimed, .claimed))
        }
        if let named = contact.named {
            // The purchase itself names its customer, no matter who sends the evidence.
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
        if rule == .keep || state.isBoundByBalance(purchase, by: catalog) { throw .heldByAnother }
        if rule == .transferIfInactive, state.givesAccess(purchase.id, by: catalog, at: now) {
            throw .heldByAnother
        }
        if let arrival = purchase.arrival, arrival.cause.coolsDown {
            let end = coolDown.end(after: arrival.at)
            if now < end { throw .movedRecently(until: end) }
        }
    }
}

extension CustomerState {
    /// Whether the purchase added to a balance, or would have. Credits never move, so neither does
    /// the consumable that gave them.
    func isBoundByBalance(_ purchase: Purchase, by catalog: Catalog) -> Bool {
        purchase.kind(by: catalog) == .consumable || balances.hasCredits(of: purchase.id)
    }

    /// Whether any transaction of the purchase gives access at that moment.
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

    /// A request to undo the move that brought the purchase to its holder.
    package static func undoing(
        _ purchase: PurchaseID, heldBy holder: Holder, reason: Reason, ticket: Ticket?,
        catalog: Catalog
    ) throws(Refusal) -> MovePurchase {
        guard let held = holder.state.purchase(purchase) else { throw .purchaseUnknown(purchase) }
        guard let arrival = held.arrival, arrival.cause != .claimed else {
            throw .neverMoved(purchase)
        }
        return MovePurchase(
            purchase, from: holder.customer, to: arrival.from,
            cause: .undone(reason, ticket: ticket), catalog: catalog)
    }

    /// The events for both streams; either all or none are appended, in one commit.
    package func decide(
        from holder: CustomerState, to claimant: CustomerState, now: Instant
    ) throws(Refusal) -> Move {
        var sides = (leaving: History(of: holder), arriving: History(of: claimant))
        try append(to: &sides.leaving, &sides.arriving, now: now)
        return Move(leaving: sides.leaving.events, arriving: sides.arriving.events)
    }

    /// Appends the events of the move to both histories, unless the move is refused.
    func append(
        to leaving: inout History, _ arriving: inout History, named: NamedOrder? = nil, now: Instant
    ) throws(Refusal) {
        guard let held = leaving.state.purchase(purchase) else { throw .purchaseUnknown(purchase) }
        if from == to { throw .alreadyHeld(purchase) }
        if isBound(held, leaving.state) { throw .boundByBalance(purchase) }
        arriving.append(
            .purchaseAttached(
                PurchaseAttached(
                    purchase: purchase, from: from, cause: cause, at: now, facts: held.facts,
                    reports: held.reports, earlierTokens: held.earlierTokens,
                    blocks: held.blocks)))
        for fact in held.facts.transactions { arriving.settle(fact, by: catalog, named: named) }
        leaving.append(
            .purchaseDetached(
                PurchaseDetached(purchase: purchase, to: to, cause: cause, at: now)))
    }
}

extension MovePurchase {
    private func isBound(_ held: Purchase, _ state: CustomerState) -> Bool {
        if from == .unclaimed(purchase) { return false }
        // If a token names another customer, a consumable that added nothing may still move.
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
    /// The purchase as a lookup of its holder finds it: once for each app that its facts name.
    package var heldPurchases: [HeldPurchase] {
        let facts = facts
        return Set(facts.transactions.map(\.app) + facts.renewals.map(\.app))
            .map { HeldPurchase(app: $0, purchase: id) }
    }

    /// The facts that reproduce this purchase when another stream records them.
    var facts: Facts {
        var facts = Facts()
        facts.transactions = evidence.flatMap(\.facts)
        facts.renewals = renewals
        facts.refunds = refundNews
        return facts
    }

    /// The tokens that those facts do not contain.
    fileprivate var earlierTokens: [CarriedToken] {
        var told = CarriedTokens()
        told.join(facts)
        return carried.all.filter { !told.holds($0) }
    }
}
