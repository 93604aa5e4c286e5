import Core
import Postgres
import SQL

extension Table {
    /// Tables whose rows are in customers' own shards.
    static let ofCustomers = [customers, purchases, balances, orders, grants, waitingCredits]
    /// Tables in the order in which they are written. Names with a customer come before names without one.
    static let ofNames = [
        holders, erasedPurchases, transactionNames, unclaimed, orderOwners, tokens, unclaimedTokens,
        carriedTokens,
    ]
    static let ofProjects = [projects, keys, apps]
}

/// A commit's changes to the tables derived from the log. Each row occurs once, in its final form.
struct ProjectedRows {
    private var ofCustomers = Table.ofCustomers.map { ChangedRows(table: $0) }
    private var ofNames = Table.ofNames.map { ChangedRows(table: $0) }
    private var ofProjects = Table.ofProjects.map { ChangedRows(table: $0) }
    private var freeTokens: FreeTokenRows
    private let waitingCredits: WaitingCreditRows
    /// Erased customers, in their states before the erasure.
    private let erased: [Origin]
    /// Whether to write every row that depends on the catalog.
    private var isWhole = false

    /// `credits` were determined while the catalog of their time was known.
    init(
        waitingCredits: WaitingCreditRows = WaitingCreditRows(), strays: [StrayToken] = [],
        tokens: KnownTokens = KnownTokens(), erased: [Origin] = []
    ) {
        self.erased = erased
        self.waitingCredits = waitingCredits
        freeTokens = FreeTokenRows(tokens, strays: strays)
    }

    /// Adds the rows that a stream's events changed. `origin` is the state after those events.
    mutating func add(_ events: [Event], of origin: Origin) {
        if origin.stream.isOfProject { return ofProjects.add(events, of: origin) }
        ofCustomers.add(events, of: origin)
        ofNames.add(events, of: origin)
        freeTokens.add(events, of: origin)
    }

    /// Adds the customer's own row.
    mutating func add(_ origin: Origin) { ofCustomers[0].rows += Table.customers.rows(of: origin) }

    /// Adds all rows, including rows that depend on the catalog.
    mutating func addAll(_ origin: Origin) {
        isWhole = true
        for place in ofCustomers.indices where ofCustomers[place].table.isByCatalog {
            ofCustomers[place].rows += ofCustomers[place].table.rows(of: origin)
        }
    }

    /// Erasures come first, so that they do not remove rows that are written later.
    var calls: [Call] {
        let credits = waitingCredits.rows(erased: erased.map(\.stream))
        var calls = erased.isEmpty ? [] : Table.erasing(erased)
        calls += ofCustomers.removals + ofCustomers.writes(isWhole: isWhole)
        if !credits.isEmpty { calls.append(Table.waitingCredits.write(credits)) }
        calls += guarding
        calls += ofNames.removals + freeTokens.removals
        calls += ofNames.writes() + freeTokens.writes
        calls += ofProjects.removals + ofProjects.writes()
        return calls
    }

    /// These calls run before the calls that they protect.
    private var guarding: [Call] {
        let given = ofNames.first { $0.table == .tokens }?.rows.map { $0[2].text } ?? []
        let awaited = freeTokens.awaited
        if given.isEmpty, awaited.isEmpty { return [] }
        return [Statement.guardTokens(.texts(given), .texts(awaited))]
    }
}

private struct ChangedRows {
    let table: Table
    var rows: [Row] = []
    var gone: [Row] = []
}

extension [ChangedRows] {
    fileprivate mutating func add(_ events: [Event], of origin: Origin) {
        for place in indices {
            let changes = self[place].table.changes(by: events, in: origin)
            self[place].rows += changes.rows
            self[place].gone += changes.gone
        }
    }

    fileprivate var removals: [Call] {
        compactMap { $0.gone.isEmpty ? nil : $0.table.remove($0.gone) }
    }

    fileprivate func writes(isWhole: Bool = false) -> [Call] {
        compactMap { changed in
            if changed.rows.isEmpty { return nil }
            return isWhole ? changed.table.rewrite(changed.rows) : changed.table.write(changed.rows)
        }
    }
}

extension Table {
    fileprivate var isByCatalog: Bool { columns.contains(where: \.isByCatalog) }

    /// Removes a person's data from every table. Only the customer's own row and the marks of erased purchases remain.
    fileprivate static func erasing(_ origins: [Origin]) -> [Call] {
        let streams = origins.map(\.stream)
        let kept = [customers, erasedPurchases]
        let rest = (ofCustomers + ofNames).filter { $0 != holders && !kept.contains($0) }
        // Storing a store's answer about a purchase locks the purchase's holder. The answer is
        // therefore either stored before the rest is removed, or not at all.
        return [
            holders.removeRows(of: origins), Statement.eraseKeptStates(streams),
            Statement.eraseCustomers(streams),
        ].compactMap(\.self)
            + rest.compactMap { $0.clear(streams) ?? $0.removeRows(of: origins) }
    }

    /// Removes the rows that follow from these states; `nil` if there are none.
    private func removeRows(of origins: [Origin]) -> Call? {
        let gone = origins.flatMap(rows)
        return gone.isEmpty ? nil : remove(gone)
    }

    /// Calls that rewrite every row of these customers that depends on the catalog. The customers'
    /// kept states are replaced as the streams grow.
    static func rewriting(_ streams: [Stream], _ origins: [Origin]) -> [Call] {
        let tables = (ofCustomers + ofNames).filter(\.followsFromState)
        return [Statement.dropKeptStates(streams)] + tables.compactMap { $0.clear(streams) }
            + tables.rewriting(origins)
    }

    /// Calls that rewrite a project's rows. The project's own row is never removed, because only it
    /// shows that the project's customers are projected.
    static func rewriting(_ project: ProjectID, _ state: ProjectState) -> [Call] {
        let origin = Origin(project, state)
        let cleared = state.exists ? [keys, apps] : ofProjects
        return cleared.compactMap { $0.clear([origin.stream]) } + ofProjects.rewriting([origin])
    }
}

extension [Table] {
    fileprivate func rewriting(_ origins: [Origin]) -> [Call] {
        compactMap { table in
            let rows = origins.flatMap(table.rows)
            return rows.isEmpty ? nil : table.rewrite(rows)
        }
    }
}
