package import Core

/// The customers of one project and the holders of purchases, in memory: everything that a ledger
/// stores between commands.
package struct World {
    package private(set) var states: [CustomerID: CustomerState] = [:]
    package private(set) var holders: [PurchaseID: CustomerID] = [:]
    package private(set) var events: [(customer: CustomerID, event: Event)] = []
    /// The owner of each token. Tokens are in lower case.
    package var tokens: [String: CustomerID] = [:]
    package var now = at(0)
    private(set) var project = ProjectState()

    package init(catalog: Catalog = shop, settings: ProjectSettings = ProjectSettings()) {
        let changed = CatalogChanged(version: 1, catalog: catalog)
        project.apply(.catalogChanged(changed), recordedAt: at(0))
        project.apply(.projectChanged(settings), recordedAt: at(0))
    }

    /// Sets how many customers a store account may have.
    package mutating func limit(to customers: Int64?) {
        var settings = project.settings
        settings.customersPerAccount = customers
        project.apply(.projectChanged(settings), recordedAt: at(0))
    }

    /// Changes the project's catalog.
    package mutating func learn(_ catalog: Catalog) {
        project.apply(
            .catalogChanged(CatalogChanged(version: 2, catalog: catalog)), recordedAt: now)
    }

    package func customer(_ id: CustomerID) -> CustomerState { states[id] ?? CustomerState() }

    package mutating func apply(_ events: [Event], to customer: CustomerID) {
        var state = states.removeValue(forKey: customer) ?? CustomerState()
        for event in events {
            state.apply(event)
            self.events.append((customer, event))
        }
        for purchase in state.purchases { holders[purchase.id] = customer }
        states[customer] = state
    }

    /// Decides a submission and applies the result. The decision sees only the customers that it names.
    @discardableResult
    package mutating func submit(_ submission: Submission) throws(Refusal) -> [ItemOutcome] {
        let purchases = submission.purchases.map(\.purchase)
        let named = holders.filter { purchases.contains($0.key) }
        let recorded = named.flatMap { tokens(of: $0.key, with: $0.value) }
        let owners = tokens.filter {
            submission.tokens.contains($0.key) || recorded.contains($0.key)
        }
        let concerned = Set(
            [submission.bearer.customer].compactMap(\.self) + submission.keepers + named.values
                + owners.values)
        let decision = try submission.decide(
            Situation(
                now: now, project: project, states: states.filter { concerned.contains($0.key) },
                holders: named, tokenOwners: owners))
        apply(decision, concerning: concerned)
        return decision.items
    }

    /// Registers the token for the customer, and moves the purchases that it brings.
    package mutating func register(_ text: String, for customer: CustomerID) throws(Refusal) {
        guard let token = AccountToken(text) else { preconditionFailure("\(text) is no token") }
        let waiting = holders.filter { tokens(of: $0.key, with: $0.value).contains(token.text) }
        let carried = Set(waiting.flatMap { tokens(of: $0.key, with: $0.value) })
        let concerned = Set([customer] + waiting.values)
        let situation = Situation(
            now: now, project: project, states: states.filter { concerned.contains($0.key) },
            holders: waiting, tokenOwners: tokens.filter { carried.contains($0.key) },
            waiting: [token.text: Array(waiting.keys)])
        let events = try self.customer(customer).decide(RegisterToken(token: token))
        apply(
            try situation.claiming(token, for: customer, after: events), concerning: concerned)
        tokens[token.text] = customer
    }

    /// Moves the purchase away from its holder, as an admin can.
    package mutating func move(_ purchase: PurchaseID, to customer: CustomerID) throws(Refusal) {
        guard let holder = holders[purchase] else { throw .move(.unknown(purchase)) }
        let wish = MovePurchase(
            purchase, from: holder, to: customer, cause: .admin(id("asked"), ticket: nil),
            catalog: project.catalog)
        try apply(wish)
    }

    /// Undoes the move that brought the purchase to its holder.
    package mutating func moveBack(_ purchase: PurchaseID) throws(Refusal) {
        guard let holder = holders[purchase] else { throw .move(.unknown(purchase)) }
        let wish = try MovePurchase.undoing(
            purchase, heldBy: Holder(holder, customer(holder)), reason: id("undone"), ticket: nil,
            catalog: project.catalog)
        try apply(try wish.reaching(customer(wish.to).mergedInto))
    }

    private mutating func apply(_ wish: MovePurchase) throws(Refusal) {
        let move = try wish.decide(from: customer(wish.from), to: customer(wish.to), now: now)
        apply(move.leaving, to: wish.from)
        apply(move.arriving, to: wish.to)
    }

    private func tokens(of purchase: PurchaseID, with holder: CustomerID) -> [String] {
        customer(holder).purchase(purchase)?.tokens.map(\.text) ?? []
    }

    private mutating func apply(_ decision: Decision, concerning concerned: Set<CustomerID>) {
        for part in decision.parts {
            precondition(concerned.contains(part.customer), "\(part.customer) was not named")
            apply(part.events, to: part.customer)
        }
    }

    /// Submits pieces of evidence, each with some of these facts.
    @discardableResult
    package mutating func submit(
        _ pieces: [Facts], by bearer: Submission.Bearer, order: OrderID? = nil
    ) throws(Refusal) -> [ItemOutcome] {
        let items = pieces.enumerated().map { Submission.Item(index: $0, facts: $1) }
        return try submit(Submission(items, by: bearer, order: order))
    }
}
