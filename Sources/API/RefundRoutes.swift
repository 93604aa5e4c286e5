import Core
import HTTPServer
import Service

/// The calls about refunds that customers asked the store for, and about accounts of the store.
struct RefundRoutes: Sendable {
    private static let pageLimit: Int64 = 1000
    private let ports: Ports

    init(_ ports: Ports) {
        self.ports = ports
    }

    var routes: [Route] {
        [
            Route(
                "GET", "/v1/refund_requests", parameters: QueryParameters.page,
                .read, .database, list),
            Route(
                "GET", "/v1/app_transactions/{app_transaction}", parameters: ["environment"],
                .read, .database, find),
        ]
    }

    private func list(_ call: Call) throws(Problem) -> Response {
        let environment = try call.query.environment() ?? .production
        let limit = try call.query.integer("limit", in: 1...RefundRoutes.pageLimit, default: 100)
        let after = try call.query["after"].map { text throws(Problem) in
            guard let place = RefundPlace(text) else {
                throw .invalid("after", "\"after\" takes the \"next\" of an answer before.")
            }
            return place
        }
        do throws(CommandError) {
            let answer = try ports.refundRequests(
                of: call.access.project, in: environment, after: after, limit: Int(limit))
            return .json(answer.json)
        } catch {
            throw Problem(error)
        }
    }

    private func find(_ call: Call) throws(Problem) -> Response {
        let account: AppTransactionID = try Identifier(
            member: "app_transaction", call.arguments[0])
        let environment = try call.query.environment() ?? .production
        do throws(CommandError) {
            return .json(
                try ports.holders(of: account, of: call.access.project, in: environment).json)
        } catch {
            throw Problem(error)
        }
    }
}
