import Core
import HTTPServer
import Service

/// The calls about purchases that no customer claimed.
struct UnclaimedRoutes: Sendable {
    private static let pageLimit: Int64 = 1000
    private let ports: Ports

    init(_ ports: Ports) {
        self.ports = ports
    }

    var routes: [Route] {
        [
            Route(
                "GET", "/v1/unclaimed", parameters: QueryParameters.page, .administer, .database,
                list),
            Route(
                "GET", "/v1/unclaimed/{purchase}", parameters: ["environment"],
                .administer, .database, show),
            Route(
                "POST", "/v1/unclaimed/{purchase}/attach", parameters: ["environment"],
                .administer, .database, attach),
        ]
    }

    private func list(_ call: Call) throws(Problem) -> Response {
        let environment = try call.query.environment() ?? .production
        let limit = try call.query.integer("limit", in: 1...UnclaimedRoutes.pageLimit, default: 100)
        let after = try call.query["after"].map { text throws(Problem) in
            guard let purchase = PurchaseID(text) else {
                throw .invalid("after", "\"after\" takes a purchase's id like apple:2000000123.")
            }
            return purchase
        }
        do throws(CommandError) {
            let answer = try ports.unclaimed(
                of: call.access.project, in: environment, after: after, limit: Int(limit))
            return .json(answer.json)
        } catch {
            throw Problem(error)
        }
    }

    private func show(_ call: Call) throws(Problem) -> Response {
        let purchase = try call.purchase(0)
        let environment = try call.query.environment() ?? .production
        do throws(CommandError) {
            let answer = try ports.unclaimed(
                purchase, of: call.access.project, in: environment)
            return .json(answer.wholeJSON)
        } catch {
            throw Problem(error)
        }
    }

    private func attach(_ call: Call) throws(Problem) -> Wish<Response> {
        let purchase = try call.purchase(0)
        let body = try Body(call.body, of: ["customer", "environment"] + Body.reasonNames)
        let customer: CustomerID = try body.id("customer")
        let stream = try call.stream(
            of: customer, environment: try body.optionalText("environment"))
        let reason = try body.adminReason()
        return ports.attaching(purchase, to: stream, reason: reason, by: call.sender)
            .response { .json($0.json, position: $0.position) }
    }
}
