import Core
import Postgres
import SQL

/// Rows of `deed.order_owners` and `deed.tokens`: names that are unique in a project and environment,
/// and the customers whom they lead to.
struct NameRows {
    private struct Name: Hashable {
        let project: ProjectID
        let environment: Environment
        let text: String
    }
    private struct Row {
        let name: Name
        let customer: CustomerID
    }
    private var orders: [Row] = []
    private var tokens: [Row] = []

    /// What names an order and whose it is; nothing once the customer is erased.
    mutating func add(_ order: Order?, of stream: Stream) {
        guard let order else { return }
        orders.append(row(order.id.text, stream))
        tokens.append(row(order.opened.token.text, stream))
    }

    mutating func add(_ token: AccountToken, _ customer: CustomerState, of stream: Stream) {
        guard customer.tokens.contains(token) else { return }
        tokens.append(row(token.text, stream))
    }

    private func row(_ text: String, _ stream: Stream) -> Row {
        Row(
            name: Name(project: stream.project, environment: stream.environment, text: text),
            customer: stream.customer)
    }

    /// The tokens that customers get.
    var guarded: [String] { tokens.map(\.name.text) }

    var calls: [Call] {
        (orders.isEmpty ? [] : [call(Statement.projectOrderOwners, orders)])
            + (tokens.isEmpty ? [] : [call(Statement.projectTokens, tokens)])
    }

    private func call(_ statement: Statement, _ rows: [Row]) -> Call {
        statement(
            .texts(rows.map(\.name.project.text)), .texts(rows.map(\.name.environment.rawValue)),
            .texts(rows.map(\.name.text)), .texts(rows.map(\.customer.text)))
    }
}
