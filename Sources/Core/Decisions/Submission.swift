/// A request to record what verified evidence states. All of the evidence belongs to one project
/// and environment.
package struct Submission: Sendable {
    /// What one piece of evidence states, and the index of the piece in the submission.
    package struct Item: Sendable {
        package let index: Int
        let groups: [PurchaseFacts]
        let apps: Facts

        package init(index: Int, facts: Facts) {
            self.index = index
            groups = facts.byPurchase
            var apps = Facts()
            apps.apps = facts.apps
            apps.consents = facts.consents
            self.apps = apps
        }
    }
    /// The sender of the evidence.
    package enum Bearer: Hashable, Sendable {
        /// The store itself, which does not know customers.
        case store
        case customer(CustomerID)
        /// A customer who restores earlier purchases.
        case restorer(CustomerID)

        package var customer: CustomerID? {
            switch self {
            case .store: nil
            case .customer(let customer), .restorer(let customer): customer
            }
        }
    }
    /// The maximum number of events that one submission may produce. Other commands must wait while
    /// these events are written.
    package static let eventLimit = 20_000

    package let items: [Item]
    package let bearer: Bearer
    /// One of the customer's orders, which is fulfilled by one of the transactions.
    package let order: OrderID?
    /// Customers concerned by news about an account rather than about a purchase.
    package let concerned: [CustomerID]
    /// Whether to skip statements that only repeat known facts, no matter how recently they were
    /// signed.
    package let onlyNews: Bool

    package init(
        _ items: [Item], by bearer: Bearer, order: OrderID? = nil, concerned: [CustomerID] = [],
        onlyNews: Bool = false
    ) {
        self.onlyNews = onlyNews
        self.items = items
        self.bearer = bearer
        self.order = order
        self.concerned = concerned
    }

    private var groups: some Sequence<PurchaseFacts> { items.lazy.flatMap(\.groups) }

    /// The purchases in the evidence and the purchases that they continue, without duplicates.
    package var purchases: [HeldPurchase] {
        distinct(groups.flatMap { [$0.held] + $0.previous })
    }

    /// The account tokens in the evidence, in lower case and without duplicates.
    package var tokens: [String] { distinct(groups.flatMap(\.tokens)) }

    /// The other customers whose streams the decision needs. If the store sends the evidence, these are the keepers of
    /// unclaimed purchases and the customers concerned by news. If a customer sends it, all purchases get a holder, so
    /// only the accounts remain, whose streams list their customers.
    package var keepers: [CustomerID] {
        guard bearer == .store else {
            return distinct(items.flatMap(\.apps.apps).compactMap(\.appTransaction))
                .map { .unclaimed($0) }
        }
        return distinct(groups.map(\.held)).map { .unclaimed($0.purchase) }
            + distinct(items.flatMap { customers(concernedBy: $0) })
    }

    /// Returns the customers concerned by an item's consents. News that does not concern any customer yet is recorded
    /// anyway.
    func customers(concernedBy item: Item) -> [CustomerID] {
        if bearer != .store || item.apps.consents.isEmpty { return [] }
        return concerned.isEmpty
            ? item.apps.consents.map { .unclaimed($0.appTransaction) } : concerned
    }

    /// Returns the events for all customers concerned, and the result for each item.
    package func decide(_ situation: Situation) throws(Refusal) -> Decision {
        var recording = try Recording(self, in: situation)
        for (place, item) in items.enumerated() {
            recording.record(item, at: place)
            if recording.eventCount > Submission.eventLimit {
                throw .tooMuchAtOnce(limit: Submission.eventLimit)
            }
        }
        return recording.decision
    }
}

extension Submission {
    /// Returns the results, together with the products that the catalog does not know.
    package func noting(_ outcomes: [ItemOutcome], by catalog: Catalog) -> [ItemOutcome] {
        let groups = items.flatMap { item -> [PurchaseFacts?] in
            item.groups.isEmpty ? [nil] : item.groups
        }
        // The outcomes are in the same order as the groups.
        return zip(outcomes, groups).map { outcome, group in
            var outcome = outcome
            if outcome.result == .recorded || outcome.result == .alreadyKnown {
                outcome.unknownProduct = group?.unknownProduct(by: catalog)
            }
            return outcome
        }
    }
}

/// What one piece of evidence states about one purchase.
struct PurchaseFacts: Sendable {
    let held: HeldPurchase
    fileprivate(set) var facts = Facts()

    var newest: TransactionFact? {
        facts.transactions.max { ($0.purchased, $0.transaction) < ($1.purchased, $1.transaction) }
    }

    /// The purchases that this one continues. Usually there are none.
    var previous: [HeldPurchase] {
        facts.transactions.flatMap { [$0.previous].compactMap(\.self) + $0.otherNames }
            .filter { $0 != held.purchase }.map { HeldPurchase(app: held.app, purchase: $0) }
    }

    /// Returns the first product in the statements that the catalog does not know.
    fileprivate func unknownProduct(by catalog: Catalog) -> ProductKey? {
        facts.transactions.lazy.compactMap { $0.unknownProduct(by: catalog) }.first
    }

    /// The purchase's tokens in lower case, with those of the newest transaction first.
    var tokens: [String] {
        if facts.transactions.count == 1, facts.renewals.isEmpty {
            return facts.transactions.compactMap(\.accountToken).compactMap(AccountToken.init)
                .map(\.text)
        }
        let newestFirst = facts.transactions.sorted {
            ($1.purchased, $1.transaction) < ($0.purchased, $0.transaction)
        }
        let tokens = newestFirst.map(\.accountToken) + facts.renewals.map(\.accountToken)
        return tokens.compactMap(\.self).compactMap(AccountToken.init).map(\.text)
    }
}

extension Facts {
    /// The statements grouped by purchase, in order of first appearance.
    fileprivate var byPurchase: [PurchaseFacts] {
        var groups: [PurchaseFacts] = []
        var places: [PurchaseID: Int] = [:]
        func place(of purchase: PurchaseID, in app: AppID) -> Int {
            if let place = places[purchase] { return place }
            places[purchase] = groups.count
            groups.append(PurchaseFacts(held: HeldPurchase(app: app, purchase: purchase)))
            return groups.count - 1
        }
        for fact in transactions {
            groups[place(of: fact.purchase, in: fact.app)].facts.transactions.append(fact)
        }
        for fact in renewals {
            groups[place(of: fact.purchase, in: fact.app)].facts.renewals.append(fact)
        }
        for fact in refunds {
            groups[place(of: fact.purchase, in: fact.app)].facts.refunds.append(fact)
        }
        return groups
    }
}

private func distinct<Element: Hashable>(_ elements: some Sequence<Element>) -> [Element] {
    var seen = Set<Element>()
    return elements.filter { seen.insert($0).inserted }
}
