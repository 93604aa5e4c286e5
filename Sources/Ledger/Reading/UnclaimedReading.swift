package import Core
import Postgres
import SQL

extension Ledger {
    /// Counting stops at this number, because it takes longer the more purchases there are.
    private static let unclaimedCountLimit: Int64 = 1_000_000

    /// Returns up to `limit` unclaimed purchases after a given one, each with its state.
    package func unclaimed(
        of project: ProjectID, _ environment: Environment, after last: PurchaseID?, limit: Int
    ) throws(Fault) -> [ListedUnclaimed] {
        let place: [Bind] = [
            .text(last?.store.rawValue ?? ""), .text(last?.original.text ?? ""),
        ]
        let listed = RowList { place, limit in
            let binds: [Bind] = [.text(project.text), .text(environment.rawValue)]
            return Call(statement: .listUnclaimed, binds: binds + place + [limit])
        } place: { rows, row in
            [.text(rows.text(row, 0)), .text(rows.text(row, 1))]
        } subject: { rows, row in
            UnreadSubject(
                project.text, environment.rawValue, "",
                row: "unclaimed \(rows.text(row, 0)):\(rows.text(row, 1))")
        } item: { rows, row throws(LedgerError) -> UnclaimedRow in
            guard let store = Store(rawValue: rows.text(row, 0)) else {
                throw .unreadable("the store of a purchase that no customer claimed")
            }
            return UnclaimedRow(
                purchase: PurchaseID(store: store, original: try rows.identifier(row, 1)),
                app: try rows.identifier(row, 2), since: Instant(milliseconds: rows.int8(row, 3)))
        }
        let rows = try page(after: place, limit: limit, listed)
        let keepers = rows.map {
            Stream(
                project: project, environment: environment, customer: .unclaimed($0.purchase))
        }
        return zip(rows, try read(keepers)).map { row, keeper in
            ListedUnclaimed(
                purchase: row.purchase, app: row.app, since: row.since,
                state: keeper.state ?? CustomerState())
        }
    }

    /// Returns the number of unclaimed purchases across all projects, up to a million.
    package func unclaimedCount() throws(Fault) -> Int64 {
        let call = Statement.countUnclaimed(.int8(Ledger.unclaimedCountLimit))
        return try list(call) { rows, row in rows.int8(row, 0) }.first ?? 0
    }
}

private struct UnclaimedRow {
    let purchase: PurchaseID
    let app: AppID
    let since: Instant
}
