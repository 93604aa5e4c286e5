import Core
import Crypto
import Postgres
import SQL

/// The rows of the projections that events change, as they must read afterwards. Each is read from
/// the state that all events left, so that several events of one thing make one row.
struct ProjectedRows {
    private var customers = CustomerRows()
    private var purchases = PurchaseRows()
    private var balances = BalanceRows()
    private var orders = OrderRows()
    private var names = NameRows()
    private var unclaimed: UnclaimedRows
    private var carried: CarriedTokenRows
    private let waitingCredits: WaitingCreditRows
    private var projects = ProjectRows()
    private var apps = AppRows()
    private var erased: [Stream] = []

    /// What waits for a product was found while the catalog of that moment was at hand.
    init(
        waitingCredits: WaitingCreditRows = WaitingCreditRows(), strays: [StrayToken] = [],
        tokens: KnownTokens = KnownTokens()
    ) {
        self.waitingCredits = waitingCredits
        carried = CarriedTokenRows(tokens)
        unclaimed = UnclaimedRows(strays: strays)
    }

    /// The row of the customer itself.
    mutating func add(
        _ customer: CustomerState, of stream: Stream, by project: ProjectState
    ) {
        customers.add(customer, of: stream, by: project)
    }

    /// Every row of the customer, as after a change of the catalog.
    mutating func addAll(
        _ customer: CustomerState, of stream: Stream, by project: ProjectState
    ) {
        customers.add(customer, of: stream, by: project)
        customers.areWhole = true
        for purchase in customer.purchases {
            purchases.add(purchase, of: stream, by: project.catalog)
        }
    }

    /// Every row that names a customer, as an audit expects them in addition to those of `addAll`.
    mutating func addNamed(_ customer: CustomerState, of stream: Stream) {
        for currency in customer.balances.currencies {
            balances.add(currency, customer, of: stream)
        }
        for order in customer.orders {
            orders.add(order, of: stream)
            names.add(order, of: stream)
        }
        for token in customer.tokens { names.add(token, customer, of: stream) }
        if stream.customer.isReserved {
            unclaimed.addAll(customer, of: stream)
        } else {
            carried.addAll(customer, of: stream)
        }
    }

    /// Every row of the project itself.
    mutating func addAll(_ state: ProjectState, of project: ProjectID) {
        projects.addAll(state, of: project)
        for app in state.apps { apps.add(app.key, of: project, state) }
    }

    /// The rows that an event of a customer changes.
    mutating func add(_ entry: NewEntry, _ customer: CustomerState, by catalog: Catalog) {
        let (event, stream) = (entry.event, entry.header.stream)
        if stream.customer.isReserved {
            unclaimed.add(entry)
        } else {
            carried.add(event, customer, of: stream)
        }
        switch event {
        case .purchaseAttached(let attached):
            purchases.add(customer.purchase(attached.purchase), of: stream, by: catalog)
        case .purchaseDetached(let detached): purchases.remove(detached.purchase, of: stream)
        case .balanceCredited(let event): balances.add(event.currency, customer, of: stream)
        case .balanceDebited(let event): balances.add(event.currency, customer, of: stream)
        case .balanceSpent(let event): balances.add(event.currency, customer, of: stream)
        case .balanceAdjusted(let event): balances.add(event.currency, customer, of: stream)
        case .orderOpened(let event):
            orders.add(customer.order(event.order), of: stream)
            names.add(customer.order(event.order), of: stream)
        case .orderFulfilled(let event): orders.add(customer.order(event.order), of: stream)
        case .orderClosed(let event): orders.add(customer.order(event.order), of: stream)
        case .tokenRegistered(let event): names.add(event.token, customer, of: stream)
        case .customerErased: erased.append(stream)
        default:
            if let purchase = event.purchase {
                purchases.add(customer.purchase(purchase), of: stream, by: catalog)
            }
        }
    }

    /// The rows that an event of a project changes.
    mutating func add(_ event: Event, of project: ProjectID, _ state: ProjectState) {
        switch event {
        case .appSet(let app): apps.add(app.key, of: project, state)
        case .appRemoved(let removed): apps.add(removed.key, of: project, state)
        default: projects.add(event, of: project, state)
        }
    }

    /// Comes before all that it guards.
    private var guarding: [Call] {
        let (given, awaited) = (names.guarded, unclaimed.tokens + carried.awaited)
        if given.isEmpty, awaited.isEmpty { return [] }
        return [Statement.guardTokens(.texts(given), .texts(awaited))]
    }

    /// Erasing comes first: what was recorded after it must stay.
    var calls: [Call] {
        let erasing = erased.isEmpty ? [] : [Statement.eraseCustomers(erased)]
        return erasing + customers.calls + purchases.calls + balances.calls + orders.calls
            + waitingCredits.calls(erased: erased) + guarding + unclaimed.calls + carried.calls
            + names.calls + unclaimed.callsBehindNames + carried.callsBehindNames + projects.calls
            + apps.calls
    }
}

extension Event {
    /// The purchase that the event states something about, and that stays where it is.
    fileprivate var purchase: PurchaseID? {
        switch self {
        case .purchaseMade(let fact), .subscriptionRenewed(let fact),
            .subscriptionUpgraded(let fact), .subscriptionExtended(let fact),
            .purchaseRefunded(let fact), .purchaseRevoked(let fact), .refundReversed(let fact),
            .purchaseRestated(let fact):
            fact.purchase
        case .renewalChanged(let fact), .renewalRestated(let fact): fact.purchase
        default: nil
        }
    }
}

/// Rows by their key, each once, in the order in which they were first touched.
struct KeyedRows<Key: Hashable, Row> {
    private(set) var rows: [Row] = []
    private var places: [Key: Int] = [:]

    var isEmpty: Bool { rows.isEmpty }

    mutating func set(_ key: Key, _ row: Row) {
        if let place = places[key] {
            rows[place] = row
        } else {
            places[key] = rows.count
            rows.append(row)
        }
    }

    mutating func remove(_ key: Key) {
        guard let place = places.removeValue(forKey: key) else { return }
        rows.remove(at: place)
        for (other, index) in places where index > place { places[other] = index - 1 }
    }
}

extension KeyedRows: Sendable where Key: Sendable, Row: Sendable {}

/// A thing of one customer.
struct Owned<Thing: Hashable & Sendable>: Hashable, Sendable {
    let stream: Stream
    let thing: Thing
}
