import Core
import Postgres
import SQL

extension Table {
    /// The tables of rows in customers' own shards.
    static let ofCustomers = [customers, purchases, balances, orders, grants, waitingCredits]
    /// In the order of writing: what customers have comes before what they lack.
    static let ofNames = [
        holders, erasedPurchases, transactionNames, unclaimed, orderOwners, tokens, unclaimedTokens,
        carriedTokens,
    ]
    static let ofProjects = [projects, keys, apps]
}

/// A commit's changes in the tables that follow from the log: each row once, in its final form.
struct ProjectedRows {
    private var ofCustomers = Table.ofCustomers.map { ChangedRows(table: $0) }
    private var ofNames = Table.ofNames.map { ChangedRows(table: $0) }
    private var ofProjects = Table.ofProjects.map { ChangedRows(table: $0) }
    private var freeTokens: FreeTokenRows
    private let waitingCredits: WaitingCreditRows
    /// The customers who are erased, as they were before.
    private let erased: [Origin]
    /// Whether to write every row that follows from the catalog.
    private var isWhole = false

    /// Credits that wait for a product were found while the catalog of that moment was at hand.
    init(
        waitingCredits: WaitingCreditRows = WaitingCreditRows(), strays: [StrayToken] = [],
        tokens: KnownTokens = KnownTokens(), erased: [Origin] = []
    ) {
        self.erased = erased
        self.waitingCredits = waitingCredits
        freeTokens = FreeTokenRows(tokens, strays: strays)
    }

    /// The rows changed by the events of a stream, which is in that state afterwards.
    mutating func add(_ events: [Event], of origin: Origin) {
        if origin.stream.isOfProject { return ofProjects.add(events, of: origin) }
        ofCustomers.add(events, of: origin)
        ofNames.add(events, of: origin)
        freeTokens.add(events, of: origin)
    }

    /// The customer's own row.
    mutating func add(_ origin: Origin) { ofCustomers[0].rows += Table.customers.rows(of: origin) }

    /// Every row, including those that follow from the catalog.
    mutating func addAll(_ origin: Origin) {
        isWhole = true
        for place in ofCustomers.indices where ofCustomers[place].table.isByCatalog {
            ofCustomers[place].rows += ofCustomers[place].table.rows(of: origin)
        }
    }

    /// Erasing comes first, so that later records stay.
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

    /// Comes before everything that it protects.
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

    /// Removes a person's data.
    fileprivate static func erasing(_ origins: [Origin]) -> [Call] {
        let streams = origins.map(\.stream)
        let named = [holders, transactionNames].compactMap { table -> Call? in
            let rows = origins.flatMap(table.rows)
            return rows.isEmpty ? nil : table.remove(rows)
        }
        return [Statement.eraseCustomers(streams)]
            + (ofCustomers.dropFirst() + [tokens, carriedTokens]).compactMap { $0.clear(streams) }
            + named
    }

    /// The calls that write every row that follows from these customers' states, over existing rows.
    static func rewriting(_ streams: [Stream], _ origins: [Origin]) -> [Call] {
        let tables = (ofCustomers + ofNames).filter(\.followsFromState)
        return tables.compactMap { $0.clear(streams) } + tables.rewriting(origins)
    }

    /// The same for a project. Only its row shows that its customers are projected, so a row that should
    /// exist stays.
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
