/// Everything that a customer's stream says, which is all that decisions about the customer need.
///
/// `purchases`, `apps` and `balances` depend only on the set of recorded facts, not on their order.
/// The rest is a history of commands in their order.
package struct CustomerState: Hashable, Sendable {
    private static let empty = Shared(CustomerContent())

    private var content = CustomerState.empty

    package init() {}

    /// The version of the newest event that was folded in; 0 when there is none.
    package var version: Int64 { content.value.version }
    /// What the customer holds now, in order of id.
    package var purchases: [Purchase] { content.value.purchases }
    /// The first installation of each app, in order of store and app.
    package var apps: [AppFact] { content.value.apps }
    /// The accounts that installed apps, in order.
    var installedBy: [AppTransactionID] { content.value.installedBy }
    /// In an account's own stream: the customers counted as the account's, in the order in which
    /// they came.
    var accountCustomers: [CustomerID] { content.value.accountCustomers }
    /// Withdrawn consents to the use of apps, in order of time.
    package var consents: [ConsentFact] { content.value.consents }
    /// In the order in which they were given.
    package var grants: [Grant] { content.value.grants }
    package var balances: Balances { content.value.balances }
    /// In the order in which they were opened.
    package var orders: [Order] { content.value.orders }
    /// In addition to those of its orders, in the order in which they were registered.
    package var tokens: [AccountToken] { content.value.tokens }
    /// Purchases that moved to another holder, in the order in which they left.
    package var departures: [PurchaseDetached] { content.value.departures }
    /// Access that was published as ended and not as started since.
    package var endedAccess: [EntitlementID: EndedAccess] { content.value.endedAccess }
    package var lastRecord: LastRecord? { content.value.lastRecord }
    /// Whether the customer was erased, and nothing happened since.
    package var isErased: Bool { content.value.erasedAt == version }
    /// The version of the last erasure.
    package var erasedAt: Int64? { content.value.erasedAt }
    /// When the last erasure was recorded.
    package var erasedOn: Instant? { content.value.erasedOn }
    /// Purchases that never have a holder again.
    package var forgotten: [PurchaseMark] { content.value.forgotten }
    /// Whether events are emptied although no erasure follows them, as far as the events are known.
    package var lacksErasure: Bool { content.value.lacksErasure }

    /// The rough number of bytes it takes in memory.
    package var weight: Int {
        let evidence = purchases.reduce(0) { $0 + 1 + $1.evidence.count }
        let others =
            grants.count + orders.count + tokens.count + departures.count + consents.count
            + accountCustomers.count + apps.count + endedAccess.count + forgotten.count
        return 500 + 400 * (evidence + others)
    }

    package mutating func apply(_ event: Event) {
        content.change { $0.apply(event) }
    }

    /// Applies the event as the log recorded it.
    package mutating func apply(_ recorded: RecordedEvent) {
        content.change {
            $0.apply(recorded.event)
            switch recorded.event {
            case .accessEnded(let notice):
                $0.endedAccess[notice.entitlement]?.position = recorded.position
            case .grantGiven(let given):
                $0.changeGrant(given.grant) {
                    $0.givenAt = recorded.recordedAt
                    $0.givenBy = recorded.actor
                }
            case .grantRevoked(let revoked):
                $0.changeGrant(revoked.grant) { $0.revokedBy = recorded.actor }
            case .customerErased: $0.erasedOn = recorded.recordedAt
            default: break
            }
            $0.lastRecord = LastRecord(
                at: recorded.recordedAt, catalogVersion: recorded.catalogVersion)
        }
    }

    /// The customer together with another state's purchases in some apps: sandbox purchases that
    /// count in production. Nothing else of the other state is included.
    package func including(_ sandbox: CustomerState, of apps: Set<AppID>) -> CustomerState {
        let guests = sandbox.purchases.filter { purchase in
            purchase.evidence.last.map { apps.contains($0.effective.app) } ?? false
        }
        var both = self
        both.content.change { content in
            content.purchases = (content.purchases + guests).enumerated().sorted {
                $0.element.id == $1.element.id
                    ? $0.offset < $1.offset : $0.element.id < $1.element.id
            }.map(\.element)
        }
        return both
    }

    package func purchase(_ id: PurchaseID) -> Purchase? { content.value.purchase(id) }

    package func grant(_ id: GrantID) -> Grant? {
        grants.first { $0.id == id }
    }

    package func order(_ id: OrderID) -> Order? {
        orders.first { $0.id == id }
    }
}

/// The last published end of access.
package struct EndedAccess: Hashable, Sendable {
    package let at: Instant
    /// The end's position, once it is in the log.
    package fileprivate(set) var position: Position?
}

/// What a customer's state holds.
private struct CustomerContent: Hashable, Sendable {
    var version: Int64 = 0
    var purchases: [Purchase] = []
    var apps: [AppFact] = []
    var installedBy: [AppTransactionID] = []
    var accountCustomers: [CustomerID] = []
    var consents: [ConsentFact] = []
    var grants: [Grant] = []
    var balances = Balances()
    var orders: [Order] = []
    var tokens: [AccountToken] = []
    var departures: [PurchaseDetached] = []
    var endedAccess: [EntitlementID: EndedAccess] = [:]
    var lastRecord: LastRecord?
    var erasedAt: Int64?
    var erasedOn: Instant?
    var forgotten: [PurchaseMark] = []
    var lacksErasure = false

    mutating func apply(_ event: Event) {
        version += 1
        switch event {
        case .purchaseMade(let fact), .subscriptionRenewed(let fact),
            .subscriptionUpgraded(let fact), .subscriptionExtended(let fact),
            .purchaseRefunded(let fact), .purchaseRevoked(let fact), .refundReversed(let fact),
            .purchaseRestated(let fact):
            purchases[place(of: fact.purchase)].join(fact)
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
            purchases.removeAll { $0.id == detached.purchase }
            departures.append(detached)
        case .purchaseBlocked(let change): purchases[place(of: change.purchase)].block(change)
        case .purchaseUnblocked(let change): purchases[place(of: change.purchase)].unblock(change)
        case .grantGiven(let given):
            grants.append(Grant(given))
        case .grantChanged(let changed):
            changeGrant(changed.grant) { $0.change = changed }
        case .grantRevoked(let revoked):
            changeGrant(revoked.grant) { $0.revocation = revoked }
        case .balanceCredited(let credited): balances.apply(credited)
        case .balanceDebited(let debited): balances.apply(debited)
        case .balanceSpent(let spent): balances.add(-Int128(spent.amount), to: spent.currency)
        case .balanceAdjusted(let adjusted):
            balances.apply(adjusted)
        case .orderOpened(let opened): orders.append(Order(opened))
        case .orderFulfilled(let fulfilled): change(fulfilled.order) { $0.fulfilled = fulfilled }
        case .orderClosed(let closed): change(closed.order) { $0.closed = closed }
        case .tokenRegistered(let registered): tokens.append(registered.token)
        case .accessStarted(let notice): endedAccess[notice.entitlement] = nil
        case .accessEnded(let notice):
            endedAccess[notice.entitlement] = EndedAccess(at: notice.at)
        case .customerErased(let erased):
            self = CustomerContent(
                version: version, erasedAt: version, forgotten: forgotten + erased.forgotten)
        case .erased: lacksErasure = true
        case .projectCreated, .keyCreated, .keyRevoked, .catalogChanged, .appSet, .appRemoved,
            .projectChanged, .reconciliationStarted, .reconciliationFinished,
            .logAccepted, .webhookSet, .webhookRemoved, .appAllowed, .appDisallowed,
            .accessEndingSoon:
            break
        }
    }

    func purchase(_ id: PurchaseID) -> Purchase? {
        let place = place(for: id)
        return place < purchases.endIndex && purchases[place].id == id ? purchases[place] : nil
    }
}

extension CustomerContent {
    /// The index of the purchase, which is added if it is missing.
    private mutating func place(of id: PurchaseID) -> Int {
        let place = place(for: id)
        if place == purchases.endIndex || purchases[place].id != id {
            purchases.insert(Purchase(id), at: place)
        }
        return place
    }

    /// The index at which a purchase with that id is or would be.
    private func place(for id: PurchaseID) -> Int {
        var (low, high) = (purchases.startIndex, purchases.endIndex)
        while low < high {
            let middle = (low + high) / 2
            if purchases[middle].id < id { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private mutating func apply(_ attached: PurchaseAttached) {
        let place = place(of: attached.purchase)
        for fact in attached.transactions { purchases[place].join(fact) }
        for fact in attached.renewals { purchases[place].join(fact) }
        for fact in attached.refunds { purchases[place].join(fact) }
        for token in attached.earlierTokens { purchases[place].join(token) }
        purchases[place].add(attached.reports)
        purchases[place].add(attached.blocks)
        purchases[place].arrival = Arrival(
            from: attached.from, cause: attached.cause, at: attached.at)
    }

    private mutating func join(_ fact: AppFact) {
        if let id = fact.appTransaction, !installedBy.contains(id) {
            installedBy.insert(id, at: installedBy.firstIndex { id < $0 } ?? installedBy.endIndex)
        }
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

    fileprivate mutating func changeGrant(_ id: GrantID, _ change: (inout Grant) -> Void) {
        guard let index = grants.lastIndex(where: { $0.id == id }) else { return }
        change(&grants[index])
    }

    private mutating func change(_ order: OrderID, _ change: (inout Order) -> Void) {
        guard let index = orders.firstIndex(where: { $0.id == order }) else { return }
        change(&orders[index])
    }
}
