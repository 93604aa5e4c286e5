package import Core
import Postgres
import SQL

extension Ledger {
    /// What the purchase is called of which a purchase token is known to be one, by the token's own name; `nil` if no
    /// purchase of the app has it. Tokens do not tell their environment, so both are looked at.
    package func chain(
        ofToken name: TransactionID, in app: AppKey, of project: ProjectID
    ) throws(Fault) -> TransactionID? {
        let call = Statement.findPurchaseToken(
            .text(project.text), .text(app.store.rawValue), .text(app.id.text), .text(name.text))
        let found = try list(call) { rows, row throws(LedgerError) -> TransactionID in
            try rows.identifier(row, 1)
        }
        // Another customer's part of the chain may only name it. If its own has several names, each leads to it.
        return found.first { $0 == name } ?? found.first
    }
}
