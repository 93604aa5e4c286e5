package import Core
import Postgres
import SQL

extension Ledger {
    /// The name of the purchase that has this purchase token, preferring the token's own name; `nil` if none of the
    /// app's purchases has the token. A token does not reveal its environment, so both are searched.
    package func chain(
        ofToken name: TransactionID, in app: AppKey, of project: ProjectID
    ) throws(Fault) -> TransactionID? {
        let call = Statement.findPurchaseToken(
            .text(project.text), .text(app.store.rawValue), .text(app.id.text), .text(name.text))
        let found = try list(call) { rows, row throws(LedgerError) -> TransactionID in
            try rows.identifier(row, 1)
        }
        // Another customer's part of the chain may only mention the token. If its own part has
        // several names, each leads to it.
        return found.first { $0 == name } ?? found.first
    }
}
