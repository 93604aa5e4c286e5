/// The decision on a submission, made item by item. Each item is based on the state after the previous one.
struct Recording {
    private let bearer: Submission.Bearer
    private let policy: TransferPolicy
    private let catalog: Catalog
    private let now: Instant
    private let named: NamedOrder?
    private let submission: Submission
    private let situation: Situation
    /// The states that earlier items changed.
    private var states: [CustomerID: CustomerState] = [:]
    private var holders: [PurchaseID: CustomerID]
    private(set) var decision = Decision(parts: [])
    private(set) var eventCount = 0
    /// The index of the evidence being recorded.
    private var place = 0

    init(_ submission: Submission, in situation: Situation) throws(Refusal) {
        bearer = submission.bearer
        self.submission = submission
        let settings = situation.project.settings
        if case .restorer = bearer {
            policy = settings.restorePolicy
        } else {
            policy = settings.transferPolicy
        }
        catalog = situation.project.catalog
        now = situation.now
        holders = situation.holders
        self.situation = situation
        named = try submission.namedOrder(in: situation)
    }

    mutating func record(_ item: Submission.Item, at place: Int) {
        self.place = place
        decision.told[place] = item.groups.map(\.held.purchase)
        if !item.groups.isEmpty, item.groups.allSatisfy({ isErased($0) }) {
            refuseErased(item)
            return
        }
        let before = eventCount
        for group in item.groups {
            let unknown = newUnknownProduct(of: group)
            var outcome = ItemOutcome(
                index: item.index, purchase: group.held.purchase,
                transaction: group.newest?.transaction, result: record(group))
            outcome.newUnknownProduct = unknown
            decision.items.append(outcome)
        }
        // An installation is recorded for a customer only if that customer submits it.
        var refusal: Refusal?
        var joined = 0
        if let customer = bearer.customer, !item.apps.apps.isEmpty {
            (joined, refusal) = recordInstallations(item.apps, of: customer)
        }
        var consents = Facts()
        consents.consents = item.apps.consents
        for customer in submission.customers(concernedBy: item) {
            record(RecordFacts(consents, catalog: catalog), with: customer)
        }
        let isNew = eventCount > before + joined
        if item.groups.isEmpty {
            decision.items.append(
                ItemOutcome(
                    index: item.index, purchase: nil, transaction: nil,
                    result: refusal.map { .refused($0) } ?? (isNew ? .recorded : .alreadyKnown)))
        }
    }

    /// Records which accounts installed the customer's apps, if the accounts can accept the
    /// customer. Returns how many accounts the customer joined, and why the customer may not join
    /// another one.
    private mutating func recordInstallations(
        _ facts: Facts, of customer: CustomerID
    ) -> (joined: Int, refusal: Refusal?) {
        let before = eventCount
        var admitted = Facts()
        var refusal: Refusal?
        for fact in facts.apps {
            do throws(Refusal) {
                if let account = fact.appTransaction { try admit(customer, to: account) }
                admitted.apps.append(fact)
            } catch {
                refusal = error
            }
        }
        let joined = eventCount - before
        record(RecordFacts(admitted, catalog: catalog), with: customer)
        return (joined, refusal)
    }

    /// Adds the customer to the account unless the account is full. Customers who were recorded
    /// before the limit was set stay in the account.
    private mutating func admit(
        _ customer: CustomerID, to account: AppTransactionID
    ) throws(Refusal) {
        guard let limit = situation.project.settings.customersPerAccount else { return }
        let keeper = CustomerID.unclaimed(account)
        let known = state(of: keeper).accountCustomers
        if known.contains(customer) { return }
        if known.count >= limit {
            if state(of: customer).installedBy.contains(account) { return }
            throw .move(.accountShared)
        }
        var history = history(of: keeper)
        history.append(.accountJoined(AccountJoined(account: account, customer: customer)))
        keep(history, of: keeper)
    }

    /// Returns the first product in newly recorded transactions that the catalog does not know.
    private func newUnknownProduct(of group: PurchaseFacts) -> ProductKey? {
        let purchase = group.held.purchase
        for fact in group.facts.transactions {
            guard let product = fact.unknownProduct(by: catalog) else { continue }
            let known = holders[purchase].flatMap { state(of: $0).purchase(purchase) }
            if known?.evidence(of: fact.transaction) == nil { return product }
        }
        return nil
    }

    /// Returns whether an erasure bars the purchase, under any of its ids, from having a holder. After a restore, the
    /// purchase may have a holder unknown to the erasure.
    private func isErased(_ group: PurchaseFacts) -> Bool {
        func isForgotten(_ name: PurchaseID) -> Bool {
            situation.erased.contains(name) && holders[name] == nil
        }
        let purchase = group.held.purchase
        if situation.erased.isEmpty { return false }
        if isForgotten(purchase) { return true }
        return holders[purchase] == nil
            && group.facts.transactions.contains { $0.otherNames.contains(where: isForgotten) }
    }

    /// Refuses and discards evidence that is only about erased purchases.
    private mutating func refuseErased(_ item: Submission.Item) {
        decision.unkept.insert(place)
        for group in item.groups {
            decision.items.append(
                ItemOutcome(
                    index: item.index, purchase: group.held.purchase,
                    transaction: group.newest?.transaction,
                    result: .refused(.erasure(.purchaseErased))))
        }
    }

    private mutating func record(_ group: PurchaseFacts) -> ItemOutcome.Result {
        let purchase = group.held.purchase
        if isErased(group) {
            decision.unkept.insert(place)
            return .refused(.erasure(.purchaseErased))
        }
        var placement = placement(of: group)
        let onlyRepeats =
            submission.onlyNews && placement.origin == nil && placement.refusal == nil
            && !group.isNews(to: state(of: placement.holder))
        if onlyRepeats, !group.settles(state(of: placement.holder)) { return .alreadyKnown }
        let before = eventCount
        if let origin = placement.origin {
            do throws(Refusal) {
                try move(purchase, from: origin, to: placement.holder)
            } catch {
                placement = Placement(holder: origin.customer, refusal: error)
            }
        }
        holders[purchase] = placement.holder
        gather(group, with: placement.holder)
        let isUnclaimed = placement.holder.isReserved
        record(
            RecordFacts(group.facts, catalog: catalog, isUnclaimed: isUnclaimed, named: named),
            with: placement.holder)
        if let refusal = placement.refusal { return .refused(refusal) }
        if let order = group.settledOrder(of: state(of: placement.holder)) {
            return .alreadySettled(order)
        }
        return eventCount > before && !onlyRepeats ? .recorded : .alreadyKnown
    }

    /// Moves facts that wait under other ids of the same purchase to the purchase's holder.
    private mutating func gather(_ group: PurchaseFacts, with holder: CustomerID) {
        for other in group.facts.transactions.flatMap(\.otherNames) {
            guard let keeper = holders[other], keeper.isReserved, keeper != holder,
                state(of: keeper).purchase(other) != nil
            else { continue }
            let origin = Placement.Origin(keeper, .claimed)
            try? move(other, from: origin, to: holder)
        }
    }

    private func placement(of group: PurchaseFacts) -> Placement {
        let purchase = group.held.purchase
        let contact = Contact(
            purchase: purchase,
            named: named(group, holders[purchase]),
            previousHolder: group.previous.lazy.compactMap { holders[$0.purchase] }
                .first { !$0.isReserved },
            submitter: bearer.customer)
        let holder = holders[purchase].map { Holder($0, state(of: $0)) }
        return policy.place(contact, holder: holder, catalog: catalog, now: now)
    }

    /// Returns the customer named by the tokens in recorded facts and in this evidence. The same rule applies to
    /// every caller, including a customer who restores purchases.
    private func named(_ group: PurchaseFacts, _ holder: CustomerID?) -> NamedHolder? {
        let recorded = holder.flatMap { state(of: $0).purchase(group.held.purchase) }
        var tokens = recorded?.carried ?? CarriedTokens()
        tokens.join(group.facts)
        let rule = situation.project.settings.transferPolicy.rule
        return rule.holder(named: tokens, owners: situation.tokenOwners) { transaction in
            let joined = (recorded ?? Purchase(group.held.purchase)).joined(with: [group.facts])
            return joined.statedToken(of: transaction)
        }
    }

    private mutating func move(
        _ purchase: PurchaseID, from origin: Placement.Origin, to holder: CustomerID
    ) throws(Refusal) {
        let wish = MovePurchase(
            purchase, from: origin.customer, to: holder, cause: origin.cause, catalog: catalog)
        let names = state(of: origin.customer).purchase(purchase)?.allIDs ?? []
        var (leaving, arriving) = (history(of: origin.customer), history(of: holder))
        defer {
            keep(leaving, of: origin.customer)
            keep(arriving, of: holder)
        }
        try wish.append(to: &leaving, &arriving, named: named, now: now)
        for name in names { holders[name] = holder }
    }

    private mutating func record(_ wish: RecordFacts, with customer: CustomerID) {
        var history = history(of: customer)
        history.record(wish)
        keep(history, of: customer)
    }

    /// Returns a history that continues the customer's state. Removing the state from the dictionary allows changes
    /// in place, because a receipt may name thousands of purchases.
    private mutating func history(of customer: CustomerID) -> History {
        History(of: states.removeValue(forKey: customer) ?? situation.customer(customer))
    }

    private mutating func keep(_ history: History, of customer: CustomerID) {
        states[customer] = history.state
        if history.events.isEmpty { return }
        eventCount += history.events.count
        if let last = decision.parts.indices.last, decision.parts[last].customer == customer,
            decision.parts[last].restsOn == place
        {
            decision.parts[last].events += history.events
        } else {
            decision.parts.append(
                Decision.Part(customer: customer, events: history.events, restsOn: place))
        }
    }

    private func state(of customer: CustomerID) -> CustomerState {
        states[customer] ?? situation.customer(customer)
    }
}

extension Submission {
    /// Returns the transaction that fulfils the named order, if there is one.
    fileprivate func namedOrder(in situation: Situation) throws(Refusal) -> NamedOrder? {
        guard let order, let customer = bearer.customer else { return nil }
        let state = situation.customer(customer)
        guard let known = state.order(order) else { throw .order(.unknown(order)) }
        let facts = items.lazy.flatMap(\.groups).flatMap(\.facts.transactions)
        return known.fulfilment(among: facts, of: state)
    }

}

extension PurchaseFacts {
    /// Returns whether the fact states more than has already been recorded for the customer.
    fileprivate func isNews(to customer: CustomerState) -> Bool {
        guard let known = customer.purchase(held.purchase) else { return true }
        let joined = known.joined(with: [facts])
        return joined.tellsMore(than: known) || joined.carried != known.carried
    }

    /// Returns whether the fact is the store's latest statement and repeats what has been recorded for the customer.
    /// Older statements that arrive later change nothing.
    fileprivate func settles(_ customer: CustomerState) -> Bool {
        guard let known = customer.purchase(held.purchase) else { return false }
        return facts.transactions.contains { fact in
            known.evidence(of: fact.transaction)?.signed.map(fact.settles) ?? false
        }
    }
}
