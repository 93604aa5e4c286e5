/// The contents of a customer's state, built by applying the stream's events in order.
package struct CustomerContent: Hashable, Sendable {
    package var version: Int64 = 0
    package var purchases: [Purchase] = []
    package var apps: [AppFact] = []
    package var installedBy: [AppTransactionID] = []
    package var accountCustomers: [CustomerID] = []
    package var consents: [ConsentFact] = []
    package var grants: [Grant] = []
    package var notes: [Note] = []
    package var balances = Balances()
    package var orders: [Order] = []
    package var tokens: [AccountToken] = []
    package var departures: [PurchaseDetached] = []
    package var endedAccess: [EntitlementID: EndedAccess] = [:]
    package var lastRecord: LastRecord?
    package var erasedAt: Int64?
    package var erasedOn: Instant?
    package var forgotten: [PurchaseMark] = []
    package var lacksErasure = false
    package var mergedInto: CustomerID?
    package var joined: [JoinedCustomer] = []
    /// Whether any of the purchases may have several ids.
    package var hasReadings = false

    package init() {}

    mutating func apply(_ event: Event) {
        version += 1
        switch event {
        case .purchaseMade(let fact), .subscriptionRenewed(let fact),
            .subscriptionUpgraded(let fact), .subscriptionExtended(let fact),
            .purchaseRefunded(let fact), .purchaseRevoked(let fact), .refundReversed(let fact),
            .purchaseRestated(let fact):
            join(fact)
        case .renewalChanged(let fact), .renewalRestated(let fact):
            purchases[place(of: fact.purchase)].join(fact)
        case .appInstalled(let fact):
            join(fact)
        case .refundRequested(let fact), .refundDeclined(let fact):
            purchases[place(of: fact.purchase)].join(fact)
        case .consentRescinded(let fact): consents.join(fact)
        case .accountJoined(let joined): accountCustomers.append(joined.customer)
        case .refundReportPrepared(let event):
            purchases[place(of: event.purchase)].apply(event)
        case .refundReported(let event):
            purchases[place(of: event.purchase)].end(event.request, .reported)
        case .refundUnreported(let event):
            purchases[place(of: event.purchase)].end(event.request, .unreported(event.why))
        case .purchaseAttached(let attached):
            apply(attached)
        case .purchaseDetached(let detached):
            if let place = known(detached.purchase) { purchases.remove(at: place) }
            departures.append(detached)
            // A merge may bring back a purchase that left when an earlier merge was undone.
            if !detached.cause.isOfMerge { changeJoined { $0.lose(detached.purchase) } }
        case .purchaseBlocked(let change): purchases[place(of: change.purchase)].block(change)
        case .purchaseUnblocked(let change): purchases[place(of: change.purchase)].unblock(change)
        case .grantGiven(let given):
            grants.append(Grant(given))
        case .grantChanged(let changed):
            changeGrant(changed.grant) { $0.change = changed }
        case .grantRevoked(let revoked):
            changeGrant(revoked.grant) { $0.revocation = revoked }
        case .noteAdded(let added): notes.append(Note(added))
        case .noteRemoved(let removed): notes.removeAll { $0.id == removed.note }
        case .balanceCredited, .balanceDebited, .balanceSpent, .balanceAdjusted:
            apply(movement: event)
        case .orderOpened(let opened): orders.append(Order(opened))
        case .orderFulfilled(let fulfilled): change(fulfilled.order) { $0.fulfilled = fulfilled }
        case .orderClosed(let closed): change(closed.order) { $0.closed = closed }
        case .tokenRegistered(let registered): tokens.append(registered.token)
        case .accessStarted(let notice): endedAccess[notice.entitlement] = nil
        case .accessEnded(let notice):
            endedAccess[notice.entitlement] = EndedAccess(at: notice.at)
        case .customerMerged, .customerJoined, .customerParted, .customerUnmerged:
            apply(merge: event)
        case .customerErased(let erased):
            erase(forgetting: erased.forgotten)
        case .erased: lacksErasure = true
        case .accessEndingSoon: break
        default:
            assert(event.type.isOfProject, "a customer's state cannot apply \(event.type)")
        }
    }

    func purchase(_ id: PurchaseID) -> Purchase? { known(id).map { purchases[$0] } }

    private mutating func erase(forgetting purchases: [PurchaseMark]) {
        var left = CustomerContent()
        (left.version, left.erasedAt) = (version, version)
        left.forgotten = forgotten + purchases
        self = left
    }
}

extension CustomerContent {
    /// Returns the purchase's index, and adds the purchase if it is missing.
    private mutating func place(of id: PurchaseID) -> Int {
        if let known = known(id) { return known }
        let place = purchases.place(for: id)
        purchases.insert(Purchase(id), at: place)
        return place
    }

    private func known(_ id: PurchaseID) -> Int? {
        purchases.place(of: id, hasReadings: hasReadings)
    }

    private mutating func join(_ fact: TransactionFact) {
        guard fact.reading != nil else { return purchases[place(of: fact.purchase)].join(fact) }
        hasReadings = true
        purchases.join(reading: fact)
    }

    private mutating func apply(_ attached: PurchaseAttached) {
        _ = place(of: attached.purchase)
        for fact in attached.transactions { join(fact) }
        // Readings may have revealed that the purchase has another id.
        let place = place(of: attached.purchase)
        for fact in attached.renewals { purchases[place].join(fact) }
        for fact in attached.refunds { purchases[place].join(fact) }
        for token in attached.earlierTokens { purchases[place].join(token) }
        purchases[place].add(attached.reports)
        purchases[place].add(attached.blocks)
        // The purchase is no longer attributed to the merged customer with whom it came, unless
        // the purchase came back through an undone merge.
        if attached.cause != .unmerged { changeJoined { $0.lose(attached.purchase) } }
        if attached.cause.isOfMerge {
            purchases[place].arrival = attached.arrived
            if attached.cause == .merged,
                let one = joined.lastIndex(where: { $0.customer == attached.from })
            {
                joined[one].bring(attached.purchase)
            }
            return
        }
        purchases[place].arrival = Arrival(
            from: attached.from, cause: attached.cause, at: attached.at)
    }

    private mutating func join(_ fact: AppFact) {
        if let id = fact.appTransaction { install(by: id) }
        guard let index = apps.firstIndex(where: { !$0.isOfEarlierApp(than: fact) }) else {
            apps.append(fact)
            return
        }
        if fact.isOfEarlierApp(than: apps[index]) {
            apps.insert(fact, at: index)
        } else if fact.outweighs(apps[index]) {
            apps[index] = fact
        }
    }

    private mutating func install(by id: AppTransactionID) {
        if installedBy.contains(id) { return }
        installedBy.insert(id, at: installedBy.firstIndex { id < $0 } ?? installedBy.endIndex)
    }

    /// Whether no merge currently involves the customer.
    var isWhole: Bool { joined.isEmpty && mergedInto == nil }

    /// The customer as shown, with the apps of customers merged into it. A customer who was merged
    /// into another one shows no apps. These apps are kept only in case the merge is undone.
    var shown: CustomerContent {
        if mergedInto != nil { return CustomerContent() }
        var all = self
        for one in joined {
            for fact in one.apps { all.join(fact) }
            for account in one.accounts { all.install(by: account) }
            for fact in one.consents { all.consents.join(fact) }
        }
        return all
    }

    mutating func changeGrant(_ id: GrantID, _ change: (inout Grant) -> Void) {
        guard let index = grants.lastIndex(where: { $0.id == id }) else { return }
        change(&grants[index])
    }

    private mutating func change(_ order: OrderID, _ change: (inout Order) -> Void) {
        guard let index = orders.firstIndex(where: { $0.id == order }) else { return }
        change(&orders[index])
    }
}

// Merges and undone merges.
extension CustomerContent {
    private mutating func apply(merge event: Event) {
        switch event {
        case .customerMerged(let merged): merge(into: merged.into)
        case .customerJoined(let event):
            joined.append(JoinedCustomer(event))
            take(event.belongings)
        case .customerParted(let parted): part(from: parted)
        case .customerUnmerged(let unmerged):
            mergedInto = nil
            take(unmerged.belongings)
            // The worth of merged customers' purchases may have changed.
            let credits = balances.credits
            changeJoined { $0.recount(by: credits) }
            for fact in unmerged.belongings.consents { consents.join(fact) }
        default: break
        }
    }

    private mutating func apply(movement event: Event) {
        switch event {
        case .balanceCredited(let credited):
            balances.apply(credited)
            changeJoined {
                $0.settle(Int128(credited.amount), credited.currency, by: credited.purchase)
            }
        case .balanceDebited(let debited):
            balances.apply(debited)
            changeJoined {
                $0.settle(-Int128(debited.amount), debited.currency, by: debited.purchase)
            }
        case .balanceSpent(let spent):
            noteSpending(Int128(spent.amount), of: spent.currency)
            balances.add(-Int128(spent.amount), to: spent.currency)
        case .balanceAdjusted(let adjusted):
            let amount = Int128(adjusted.amount)
            if amount < 0 { noteSpending(-amount, of: adjusted.currency) }
            // Coins that the customer earned do not make up for missing coins.
            if amount > 0, adjusted.earnedAt == nil { joined.makeUp(amount, adjusted.currency) }
            balances.apply(adjusted)
        default: break
        }
    }

    /// Purchases have separate events. Installed apps stay in this state but are shown with the
    /// other customer.
    private mutating func merge(into customer: CustomerID) {
        (grants, orders, tokens) = ([], [], [])
        balances.empty()
        mergedInto = customer
    }

    private mutating func take(_ came: Belongings) {
        grants += came.grants
        orders += came.orders
        tokens += came.tokens
        balances.take(came.coins)
    }

    private mutating func part(from parted: CustomerParted) {
        guard let place = joined.lastIndex(where: { $0.customer == parted.to }) else { return }
        let one = joined.part(at: place)
        let (gone, closed) = (Set(parted.left.grants), Set(parted.left.orders))
        grants.removeAll { gone.contains($0.id) }
        orders.removeAll { closed.contains($0.id) }
        tokens.removeAll { one.tokens.contains($0) }
        consents.removeAll { parted.left.consents.contains($0.id) }
        balances.give(parted.left.balances, creditedBy: one.purchases)
    }

    private mutating func changeJoined(_ change: (inout JoinedCustomer) -> Void) {
        for place in joined.indices { change(&joined[place]) }
    }

    private mutating func noteSpending(_ amount: Int128, of currency: CurrencyID) {
        if joined.isEmpty { return }
        let came = joined.reduce(Int128(0)) { $0 + $1.left(of: currency) }
        joined.spend(amount, currency, own: balances.total(of: currency) - came)
    }
}
