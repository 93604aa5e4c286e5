package import Core
import Postgres
import SQL

extension Ledger {
    /// Returns the name of the purchase with this token; `nil` if none of the app's purchases has it. The token's own
    /// name is preferred. A token does not reveal its environment, so the search covers both.
    package func chain(
        ofToken name: TransactionID, in app: AppKey, of project: ProjectID
    ) throws(Fault) -> TransactionID? {
        let call = Statement.findPurchaseToken(
            .text(project.text), .text(app.store.rawValue), .text(app.id.text), .text(name.text))
        let found = try list(call) { rows, row throws(LedgerError) -> TransactionID in
            try rows.identifier(row, 1)
        }
        // Another customer's part of the chain may merely mention the token. If the token's own
        // part has several names, each of them leads to it.
        return found.first { $0 == name } ?? found.first
    }
}
