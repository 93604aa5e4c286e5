extension Submission {
    /// Returns the result for each piece of evidence in a repeated submission. It is derived from the events that the
    /// first submission recorded for the customer.
    package func outcomes(
        repeating events: some Sequence<Event>, in state: CustomerState
    ) -> [ItemOutcome] {
        var told = Told(events)
        return items.flatMap { item -> [ItemOutcome] in
            let isAppNew = told.takeOut(by: item.apps)
            if item.groups.isEmpty {
                let isRefused = bearer.customer != nil && item.apps.apps.contains { !state.has($0) }
                return [
                    ItemOutcome(
                        index: item.index, purchase: nil, transaction: nil,
                        result: isAppNew
                            ? .recorded
                            : isRefused ? .refused(.move(.accountShared)) : .alreadyKnown)
                ]
            }
            return item.groups.map { group in
                ItemOutcome(
                    index: item.index, purchase: group.held.purchase,
                    transaction: group.newest?.transaction,
                    result: group.result(
                        isNew: told.takeOut(by: group),
                        isLeft: told.left.contains(group.held.purchase), in: state))
            }
        }
    }
}

extension CustomerState {
    /// Returns whether the customer has been recorded for the account that installed the app.
    fileprivate func has(_ fact: AppFact) -> Bool {
        guard let account = fact.appTransaction, AppVersion(fact.originalVersion) != nil else {
            return true
        }
        return installedBy.contains(account)
    }
}

/// A submission's events. Each is attributed to the first piece of evidence that explains it.
private struct Told {
    private var ofApps: [AppFact] = []
    private var ofConsents: [ConsentFact] = []
    private var ofPurchases: [PurchaseID: [Event]] = [:]
    /// Purchases for which only a fact's consequences were recorded. Either the catalog has since gained the product,
    /// or the request named an order.
    private var settled: Set<PurchaseID> = []
    /// Purchases that moved to another customer because a token in the evidence named that customer.
    private(set) var left: Set<PurchaseID> = []

    init(_ events: some Sequence<Event>) {
        for event in events {
            if case .appInstalled(let fact) = event {
                ofApps.append(fact)
            } else if case .consentRescinded(let fact) = event {
                ofConsents.append(fact)
            } else if let purchase = event.statedPurchase {
                ofPurchases[purchase, default: []].append(event)
            } else if let purchase = event.settledPurchase {
                settled.insert(purchase)
            } else if case .purchaseDetached(let detached) = event {
                left.insert(detached.purchase)
            }
        }
        settled.subtract(ofPurchases.keys)
    }

    mutating func takeOut(by apps: Facts) -> Bool {
        let before = ofApps.count + ofConsents.count
        ofApps.removeAll(where: apps.apps.contains)
        ofConsents.removeAll(where: apps.consents.contains)
        return ofApps.count + ofConsents.count < before
    }

    mutating func takeOut(by group: PurchaseFacts) -> Bool {
        let purchase = group.held.purchase
        let isSettled = settled.remove(purchase) != nil
        guard var events = ofPurchases.removeValue(forKey: purchase) else { return isSettled }
        let before = events.count
        events.removeAll(where: group.states)
        let isTold = events.count < before
        ofPurchases[purchase] = events
        return isTold || isSettled
    }
}

extension PurchaseFacts {
    /// Returns the order of the newest transaction, if support settled it before the evidence arrived.
    func settledOrder(of state: CustomerState) -> OrderID? {
        newest.flatMap { state.settledOrder(of: $0.transaction, held.purchase)?.id }
    }

    /// Returns whether the event records one of these facts, or the arrival of the purchase.
    fileprivate func states(_ event: Event) -> Bool {
        switch event.fact {
        case .transaction(let fact):
            facts.transactions.contains(fact)
                || fact.reading != nil
                    && facts.transactions.contains { $0.isReadAgain(after: fact) }
        case .renewal(let fact): facts.renewals.contains(fact)
        case .refund(let fact): facts.refunds.contains(fact)
        case .app, .consent: false
        case nil: event.attachedPurchase == held.purchase
        }
    }

    /// Returns the result for a customer who has this state.
    fileprivate func result(
        isNew: Bool, isLeft: Bool, in state: CustomerState
    ) -> ItemOutcome.Result {
        if let order = settledOrder(of: state) { return .alreadySettled(order) }
        if isNew { return .recorded }
        if isLeft { return .refused(.move(.heldByAnother)) }
        let isOwn =
            state.purchase(held.purchase) != nil
            || state.departures.contains { $0.purchase == held.purchase }
        return isOwn ? .alreadyKnown : .refused(.move(.heldByAnother))
    }
}

extension TransactionFact {
    /// Returns whether this is a later reading of the same purchase. A repeated submission reads the purchase again.
    fileprivate func isReadAgain(after other: TransactionFact) -> Bool {
        reading != nil && !names.isDisjoint(with: other.names)
    }
}

extension Event {
    /// The purchase that is the subject of the event's fact, or that arrived with the event.
    fileprivate var statedPurchase: PurchaseID? {
        switch fact {
        case .transaction(let fact): fact.purchase
        case .renewal(let fact): fact.purchase
        case .refund(let fact): fact.purchase
        case .app, .consent: nil
        case nil: attachedPurchase
        }
    }

    fileprivate var attachedPurchase: PurchaseID? {
        if case .purchaseAttached(let attached) = self { attached.purchase } else { nil }
    }

    /// The purchase whose order or balance was updated by the event.
    fileprivate var settledPurchase: PurchaseID? {
        switch self {
        case .orderFulfilled(let fulfilled): fulfilled.purchase
        case .balanceCredited(let credited): credited.purchase
        case .balanceDebited(let debited): debited.purchase
        default: nil
        }
    }
}
