package import Core

/// The customers of one project and who holds what, in memory: what a ledger keeps between commands.
package struct World {
    package private(set) var states: [CustomerID: CustomerState] = [:]
    package private(set) var holders: [PurchaseID: CustomerID] = [:]
    package private(set) var events: [(customer: CustomerID, event: Event)] = []
    /// Whose each token is, in lower case.
    package var tokens: [String: CustomerID] = [:]
    package var now = at(0)
    private var project = ProjectState()

    package init(catalog: Catalog = shop, settings: ProjectSettings = ProjectSettings()) {
        let changed = CatalogChanged(version: 1, catalog: catalog)
        project.apply(.catalogChanged(changed), recordedAt: at(0))
        project.apply(.projectChanged(settings), recordedAt: at(0))
    }

    /// Changes how many customers an account of the store may have.
    package mutating func limit(to customers: Int64?) {
        var settings = project.settings
        settings.customersPerAccount = customers
        project.apply(.projectChanged(settings), recordedAt: at(0))
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

    /// Decides and applies. Nobody is known to the decision but those whom the submission names.
    @discardableResult
    package mutating func submit(_ submission: Submission) throws(Refusal) -> [ItemOutcome] {
        let purchases = submission.purchases.map(\.purchase)
        let named = holders.filter { purchases.contains($0.key) }
        let owners = tokens.filter { submission.tokens.contains($0.key) }
        let concerned = Set(
            [submission.bearer.customer].compactMap(\.self) + submission.keepers + named.values
                + owners.values)
        let decision = try submission.decide(
            Situation(
                now: now, project: project, states: states.filter { concerned.contains($0.key) },
                holders: named, tokenOwners: owners))
        for part in decision.parts {
            precondition(concerned.contains(part.customer), "\(part.customer) was not named")
            apply(part.events, to: part.customer)
        }
        return decision.items
    }

    /// Submits pieces of evidence that state so many facts each.
    @discardableResult
    package mutating func submit(
        _ pieces: [Facts], by bearer: Submission.Bearer, order: OrderID? = nil
    ) throws(Refusal) -> [ItemOutcome] {
        let items = pieces.enumerated().map { Submission.Item(index: $0, facts: $1) }
        return try submit(Submission(items, by: bearer, order: order))
    }
}
