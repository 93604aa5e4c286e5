/// The folded state of a customer's stream. It contains all the data that decisions about the
/// customer need.
///
/// `purchases`, `apps` and `balances` depend only on the set of recorded facts, not on their order.
/// All other members depend on the order of commands.
package struct CustomerState: Hashable, Sendable {
    private static let empty = Shared(CustomerContent())

    private var content = CustomerState.empty

    package init() {}

    package init(of content: CustomerContent) {
        self.content = Shared(content)
    }

    package var parts: CustomerContent { content.value }

    /// The version of the newest event included; 0 if there are no events.
    package var version: Int64 { content.value.version }
    /// The purchases that the customer currently holds, sorted by id.
    package var purchases: [Purchase] { content.value.purchases }
    /// The first installation of each app, sorted by store and app.
    package var apps: [AppFact] {
        content.value.isWhole ? content.value.apps : content.value.shown.apps
    }
    /// The store accounts that were used to install apps, sorted.
    var installedBy: [AppTransactionID] {
        content.value.isWhole ? content.value.installedBy : content.value.shown.installedBy
    }
    /// In a store account's own stream, the customers who count towards the account's limit, in
    /// order of arrival.
    var accountCustomers: [CustomerID] { content.value.accountCustomers }
    /// Withdrawn consents to the use of apps, in chronological order.
    package var consents: [ConsentFact] {
        content.value.isWhole ? content.value.consents : content.value.shown.consents
    }
    /// The grants in the order in which they were given.
    package var grants: [Grant] { content.value.grants }
    /// The notes in the order in which they were added. A merge does not move them.
    package var notes: [Note] { content.value.notes }
    package var balances: Balances { content.value.balances }
    /// The orders in the order in which they were opened.
    package var orders: [Order] { content.value.orders }
    /// The tokens that do not belong to any order, in the order of registration.
    package var tokens: [AccountToken] { content.value.tokens }
    /// Purchases that moved to another holder, in chronological order.
    package var departures: [PurchaseDetached] { content.value.departures }
    /// Access whose end has been published, unless its start has been published again since.
    package var endedAccess: [EntitlementID: EndedAccess] { content.value.endedAccess }
    package var lastRecord: LastRecord? { content.value.lastRecord }
    /// The customer into whom this one was merged.
    package var mergedInto: CustomerID? { content.value.mergedInto }
    /// The customers merged into this one, in chronological order.
    package var joined: [JoinedCustomer] { content.value.joined }
    /// Whether the customer was erased and no event has been recorded since.
    package var isErased: Bool { content.value.erasedAt == version }
    /// The version of the last erasure.
    package var erasedAt: Int64? { content.value.erasedAt }
    /// When the last erasure was recorded.
    package var erasedOn: Instant? { content.value.erasedOn }
    /// Marks of purchases that no customer may hold again.
    package var forgotten: [PurchaseMark] { content.value.forgotten }
    /// Whether the stream contains emptied events but no later erasure.
    package var lacksErasure: Bool { content.value.lacksErasure }

    package mutating func apply(_ event: Event) {
        content.change { $0.apply(event) }
    }

    /// Applies an event as recorded in the log.
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
            case .noteAdded(let added):
                if let place = $0.notes.lastIndex(where: { $0.id == added.note }) {
                    $0.notes[place] = Note(added, at: recorded.recordedAt, by: recorded.actor)
                }
            case .customerErased: $0.erasedOn = recorded.recordedAt
            default: break
            }
            $0.lastRecord = LastRecord(
                at: recorded.recordedAt, catalogVersion: recorded.catalogVersion)
        }
    }

    /// Returns the customer with the purchases that another state has for the given apps. Used for sandbox purchases
    /// that count in production. No other data is added.
    package func including(_ sandbox: CustomerState, of apps: Set<AppKey>) -> CustomerState {
        let guests = sandbox.purchases.filter { purchase in
            guard let app = purchase.evidence.last?.effective.app else { return false }
            return apps.contains(AppKey(store: purchase.id.store, id: app))
        }
        var both = self
        both.content.change { content in
            content.hasReadings = content.hasReadings || guests.contains(where: \.isRead)
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

/// The last end of access that was published.
package struct EndedAccess: Hashable, Sendable {
    package let at: Instant
    /// The position of the event that published it, once it is in the log.
    package fileprivate(set) var position: Position?

    package init(at: Instant, position: Position? = nil) {
        self.at = at
        self.position = position
    }
}

extension CustomerState {
    /// Returns the customer's store accounts, except those of a merged customer and of the purchases that an undo
    /// would return to that customer.
    func accounts(
        without one: JoinedCustomer, and purchases: [Purchase]
    ) -> Set<AppTransactionID> {
        let gone = Set(purchases.map(\.id))
        let others = joined.filter { $0 != one }.flatMap(\.accounts)
        let bought = self.purchases.filter { !gone.contains($0.id) }.compactMap(\.account)
        return Set(content.value.installedBy + others + bought)
    }
}
