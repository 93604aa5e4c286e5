import Core
import HTTPServer
import Service

/// Calls about refund requests and store accounts.
struct RefundRoutes: Sendable {
    let refunds: Refunds

    var routes: [Route] {
        [
            Route(
                "GET", "/refund_requests", parameters: QueryParameters.page,
                .read, .database, list),
            Route(
                "GET", "/app_transactions/{app_transaction}", parameters: ["environment"],
                .read, .database, find),
        ]
    }

    private func list(_ call: Call) throws(Problem) -> Response {
        .json(
            try call.page(
                by: RefundPlace.init, like: "the \"next\" of an earlier answer",
                of: refunds.requests
            ).json)
    }

    private func find(_ call: Call) throws(Problem) -> Response {
        let account: AppTransactionID = try Identifier(
            member: "app_transaction", call.arguments[0])
        let environment = try call.query.environment() ?? .production
        return .json(
            try obey(refunds.holders(of: account, of: call.access.project, in: environment)).json)
    }
}
