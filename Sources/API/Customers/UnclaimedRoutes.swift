import Core
import HTTPServer
import Service

/// Calls about unclaimed purchases.
struct UnclaimedRoutes: Sendable {
    let unclaimed: Unclaimed
    let keeper: TermsKeeper

    var routes: [Route] {
        [
            Route(
                "GET", "/unclaimed", parameters: QueryParameters.page, .administer, .database,
                list),
            Route(
                "GET", "/unclaimed/{purchase}", parameters: ["environment"],
                .help, .database, show),
            Route(
                "POST", "/unclaimed/{purchase}/attach",
                parameters: ["environment"] + QueryParameters.terms,
                .help, .database, attach),
        ]
    }

    private func list(_ call: Call) throws(Problem) -> Response {
        .json(
            try call.page(
                by: PurchaseID.init, like: "a purchase's id like apple:2000000123",
                of: unclaimed.list
            ).json)
    }

    private func show(_ call: Call) throws(Problem) -> Response {
        let purchase = try call.purchase(0)
        let environment = try call.query.environment() ?? .production
        return .json(
            try obey(unclaimed.find(purchase, of: call.access.project, in: environment)).wholeJSON)
    }

    private func attach(_ call: Call) throws(Problem) -> Wish<Response> {
        let terms = try call.query.terms()
        let purchase = try call.purchase(0)
        let body = try Body(call.body, of: ["customer", "environment"] + Body.reasonNames)
        let customer: CustomerID = try body.id("customer")
        let stream = try call.stream(
            of: customer, environment: try body.optionalText("environment"))
        let reason = try body.reason(of: call)
        let wish = unclaimed.attaching(purchase, to: stream, reason: reason, by: call.sender)
        return keeper.response(to: wish, on: terms) { .json($0.json, position: $0.position) }
    }
}
