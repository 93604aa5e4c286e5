package import Core
import Postgres
import SQL

extension Ledger {
    /// Returns the customer in this project and environment who has the order; `nil` if no customer has it.
    package func owner(
        of order: OrderID, in project: ProjectID, _ environment: Environment
    ) throws(Fault) -> Core.Stream? {
        let call = Statement.findOrder(
            .text(project.text), .text(environment.rawValue), .text(order.text))
        let found = try list(call) { rows, row throws(LedgerError) in
            Stream(
                project: project, environment: environment,
                customer: try rows.identifier(row, 0))
        }
        return found.first
    }
}
