import Core
import Postgres
import SQL

/// Identifies a purchase whose holder is looked up.
struct HolderKey: Hashable, Sendable {
    let project: ProjectID
    let environment: Environment
    let app: AppID
    let purchase: PurchaseID

    init(_ held: HeldPurchase, in stream: Stream) {
        project = stream.project
        environment = stream.environment
        app = held.app
        purchase = held.purchase
    }

    /// Returns whether one key comes before the other. All writers write rows in this order, so that two commits never
    /// deadlock.
    static func precedes(_ one: HolderKey, _ other: HolderKey) -> Bool {
        (
            one.project, one.purchase.store.rawValue, one.environment.rawValue, one.app,
            one.purchase.original
        ) < (
            other.project, other.purchase.store.rawValue, other.environment.rawValue, other.app,
            other.purchase.original
        )
    }
}

/// The holders of a batch's purchases, and how the batch changes them.
struct Holders {
    private var known: [HolderKey: CustomerID] = [:]
    private var asked: Set<HolderKey> = []
    private var claimed: Set<HolderKey> = []
    private var moved: Set<HolderKey> = []

    init(asking keys: some Sequence<HolderKey>) {
        asked = Set(keys)
    }

    mutating func load(_ customer: CustomerID, of key: HolderKey) {
        known[key] = customer
    }

    subscript(key: HolderKey) -> CustomerID? { known[key] }

    /// Applies what an event says about its customer's purchases.
    mutating func apply(_ event: Event, of stream: Stream) throws(Undecided) {
        let held = event.heldPurchases
        // If a purchase moves here, its previous holder held all of its names.
        let movesWhole =
            event.isArrival && held.contains { asked.contains(HolderKey($0, in: stream)) }
        for held in held {
            let key = HolderKey(held, in: stream)
            guard asked.contains(key) else {
                if movesWhole {
                    moved.insert(key)
                    known[key] = stream.customer
                    continue
                }
                throw .fault(.broken("a command did not name a purchase that it is about"))
            }
            if known[key] == stream.customer { continue }
            if case .purchaseAttached = event {
                if known[key] != nil, !claimed.contains(key) {
                    moved.insert(key)
                } else {
                    claimed.insert(key)
                }
            } else if known[key] == nil {
                claimed.insert(key)
            } else {
                throw .refused(.move(.heldByAnother))
            }
            known[key] = stream.customer
        }
    }

    /// The calls that write new holders. If another customer has since claimed a purchase, the insert violates the key
    /// and the batch is decided again.
    var calls: [Call] {
        (claimed.isEmpty ? [] : [Table.holders.write(rows(claimed))])
            + (moved.isEmpty ? [] : [Table.holders.rewrite(rows(moved))])
    }

    private func rows(_ keys: Set<HolderKey>) -> [Row] {
        keys.sorted(by: HolderKey.precedes).map { $0.cells + [.text(known[$0]?.text)] }
    }

    static func lookUp(_ keys: Set<HolderKey>) -> Call {
        Call(statement: Statement.loadHolders, binds: HolderKey.columns(Array(keys)))
    }

    /// Reads a row of `load_holders`.
    static func key(_ rows: borrowing Rows, _ row: Int) throws(LedgerError) -> HolderKey {
        guard let store = Store(rawValue: rows.text(row, 1)),
            let environment = Environment(rawValue: rows.text(row, 2))
        else { throw .unreadable("the store or environment of a holder") }
        let purchase = PurchaseID(store: store, original: try rows.identifier(row, 4))
        return HolderKey(
            project: try rows.identifier(row, 0), environment: environment,
            app: try rows.identifier(row, 3), purchase: purchase)
    }
}

extension HolderKey {
    /// The key as a row's cells.
    fileprivate var cells: Row {
        [
            .text(project.text), .text(environment.rawValue), .text(purchase.store.rawValue),
            .text(app.text), .text(purchase.original.text),
        ]
    }

    static func columns(_ keys: [HolderKey]) -> [Bind] {
        [
            .texts(keys.map(\.project.text)), .texts(keys.map(\.purchase.store.rawValue)),
            .texts(keys.map(\.environment.rawValue)), .texts(keys.map(\.app.text)),
            .texts(keys.map(\.purchase.original.text)),
        ]
    }

    fileprivate init(
        project: ProjectID, environment: Environment, app: AppID, purchase: PurchaseID
    ) {
        self.project = project
        self.environment = environment
        self.app = app
        self.purchase = purchase
    }
}

extension Event {
    /// The purchases that the event gives to its customer.
    var heldPurchases: [HeldPurchase] {
        switch fact {
        case .transaction(let fact): [HeldPurchase(app: fact.app, purchase: fact.purchase)]
        case .renewal(let fact): [HeldPurchase(app: fact.app, purchase: fact.purchase)]
        // None of these facts gives a purchase to a customer.
        case .refund, .app, .consent: []
        case nil: arrivals
        }
    }

    private var arrivals: [HeldPurchase] {
        guard case .purchaseAttached(let attached) = self, let app = attached.app else { return [] }
        return attached.names.map { HeldPurchase(app: app, purchase: $0) }
    }

    fileprivate var isArrival: Bool {
        if case .purchaseAttached = self { true } else { false }
    }
}

extension PurchaseAttached {
    private var apps: [AppID] { transactions.map(\.app) + renewals.map(\.app) }
    fileprivate var app: AppID? { apps.first }

    /// The purchase's own name, followed by the names from readings made before all of its tokens were known.
    fileprivate var names: [PurchaseID] {
        let others = Set(transactions.lazy.filter { $0.reading != nil }.map(\.purchase))
        return [purchase] + others.subtracting([purchase]).sorted()
    }
}
