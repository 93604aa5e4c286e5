package import Core
import Postgres
import SQL

/// The figures of all projects, while they are being counted. They are computed from rows, which are derived from the
/// log.
package struct FigureCount: Sendable {
    /// The last customer that was counted, in the order of the rows' key.
    fileprivate struct Place {
        var customer = ""
        var project = ""
        var environment = ""

        var binds: [Bind] { [.text(customer), .text(project), .text(environment)] }
    }

    package let at: Instant
    fileprivate var figures: [FigureScope: ProjectFigures] = [:]
    fileprivate var shard: Int16 = 0
    fileprivate var place = Place()
    fileprivate let pageLimit: Int64
    /// The maximum number of customers in the next page.
    fileprivate var limit: Int64

    package init(at: Instant, pageLimit: Int64 = 1000) {
        self.at = at
        self.pageLimit = pageLimit
        limit = pageLimit
    }

    /// Whether every customer has been counted.
    package var isWhole: Bool { shard == Shard.count }
}

extension Ledger {
    private typealias Scoped<Item> = (scope: FigureScope, item: Item)

    /// Returns the most recent figures; `nil` if there are none.
    package func figures(_ scope: FigureScope) throws(Fault) -> ProjectFigures? {
        let call = Statement.findFigures(
            .text(scope.project.text), .text(scope.environment.rawValue))
        return try list(call) { rows, row throws(LedgerError) in
            try ProjectFigures(
                at: Instant(milliseconds: rows.int8(row, 0)), counts: rows.text(row, 1),
                items: rows.text(row, 2))
        }.first
    }

    /// Counts the next page of customers. Returns false once every customer has been counted. An unreadable page is
    /// read again in smaller pages. A customer with unreadable rows is left out.
    package func count(_ count: inout FigureCount) throws(Fault) -> Bool {
        if count.isWhole { return false }
        let shard = Bind.int2(count.shard)
        let next = Statement.findFigurePage
        let binds = [shard] + count.place.binds
        let end = try list(Call(statement: next, binds: binds + [.int8(count.limit)])) {
            rows, row in
            FigureCount.Place(
                customer: rows.text(row, 0), project: rows.text(row, 1),
                environment: rows.text(row, 2))
        }.first
        guard let end else {
            count.shard += 1
            count.place = FigureCount.Place()
            return !count.isWhole
        }
        do throws(Fault) {
            try add(to: &count, customers: binds + end.binds)
            count.limit = min(4 * count.limit, count.pageLimit)
        } catch {
            if count.limit > 1 {
                count.limit = max(1, count.limit / 10)
                return true
            }
            if error.isOfWholeDatabase || error == .busy { throw error }
            let rows = UnreadSubject(end.project, end.environment, end.customer, row: "customers")
            unread.note(rows, LedgerError.unreadable("rows that cannot be counted").fault)
        }
        count.place = end
        return true
    }

    /// Reads all rows before adding any, because a broken connection makes the read start again.
    private func add(to count: inout FigureCount, customers: [Bind]) throws(Fault) {
        let none = ProjectFigures(at: count.at)
        let (now, earlier, later) = (
            Bind.int8(count.at.milliseconds), Bind.int8(none.weekAgo.milliseconds),
            Bind.int8(none.weekAhead.milliseconds)
        )
        let entitlements = try active(.countActiveEntitlements, customers + [now, earlier])
        let products = try active(.countActiveProducts, customers + [now, earlier])
        let ending = try scoped(.listEndingAccess, customers + [now, later]) { rows, row in
            ProjectFigures.Ending(
                customer: rows.text(row, 2), version: rows.int8(row, 3),
                entitlement: rows.text(row, 4), ends: Instant(milliseconds: rows.int8(row, 5)))
        }
        let refunds = try scoped(.listLateRefunds, customers + [earlier, now]) { rows, row in
            ProjectFigures.Refunded(
                customer: rows.text(row, 2), version: rows.int8(row, 3),
                product: rows.text(row, 4), purchase: rows.text(row, 5),
                transaction: rows.text(row, 6), at: rows.text(row, 7))
        }
        let unclaimed = try scoped(.countUnclaimedPage, customers) { rows, row in
            rows.int8(row, 2)
        }
        for (scope, item) in entitlements {
            count.figures[scope, default: none].entitlements.add(item.active, named: item.name)
        }
        for (scope, item) in products {
            count.figures[scope, default: none].products.add(item.active, named: item.name)
        }
        for (scope, item) in ending { count.figures[scope, default: none].ending.add(item) }
        for (scope, item) in refunds { count.figures[scope, default: none].refunds.add(item) }
        for (scope, number) in unclaimed { count.figures[scope, default: none].unclaimed += number }
    }

    private func active(
        _ statement: Statement, _ binds: [Bind]
    ) throws(Fault) -> [Scoped<(name: String, active: ProjectFigures.Active)>] {
        try scoped(statement, binds) { rows, row in
            (
                rows.text(row, 2),
                ProjectFigures.Active(now: rows.int8(row, 3), earlier: rows.int8(row, 4))
            )
        }
    }

    /// Returns an item for each row. Skips rows with an invalid project or environment.
    private func scoped<Item>(
        _ statement: Statement, _ binds: [Bind], _ item: (borrowing Rows, Int) -> Item
    ) throws(Fault) -> [Scoped<Item>] {
        try list(Call(statement: statement, binds: binds)) { rows, row -> Scoped<Item>? in
            guard let project = try? ProjectID(rows.text(row, 0)),
                let environment = Environment(rawValue: rows.text(row, 1))
            else { return nil }
            return (FigureScope(project, environment), item(rows, row))
        }.compactMap(\.self)
    }

    /// Stores the figures of every project in both environments, including projects without customers.
    package func keep(_ count: FigureCount) throws(Fault) {
        try requireWritable()
        for listed in try projects() {
            for environment in Environment.allCases {
                let scope = FigureScope(listed.project, environment)
                try keep(count.figures[scope] ?? ProjectFigures(at: count.at), of: scope)
            }
        }
    }

    private func keep(_ figures: ProjectFigures, of scope: FigureScope) throws(Fault) {
        let place: [Bind] = [.text(scope.project.text), .text(scope.environment.rawValue)]
        let counts = place + [.int8(figures.at.milliseconds), .text(figures.countsText)]
        let calls = [
            Statement.begin(), ConnectionSettings.losableTransaction(),
            Call(statement: .openFigures, binds: counts), Statement.commit(),
            Statement.begin(), ConnectionSettings.losableTransaction(),
            Call(statement: .holdFigures, binds: place),
            Call(statement: .keepFigures, binds: counts + [.text(figures.itemsText)]),
            Statement.commit(),
        ]
        try send(calls)
    }
}
