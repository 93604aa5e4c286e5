import Answers
import Core
import HTTPServer
import Service

/// Calls about announced purchases and account tokens.
struct OrderRoutes: Sendable {
    let reading: any CustomerReading
    private static let order = ["order", "product", "lifetime", "environment", Body.allowUnknown]
    let orders: Orders
    let reads: CustomerReads

    var routes: [Route] {
        let customer = "/customers/{customer}"
        return [
            Route(
                "POST", "\(customer)/orders", parameters: OrderRoutes.order,
                .submit, .memory, open),
            Route(
                "GET", "\(customer)/orders", parameters: QueryParameters.page,
                headers: [.after], .submit, .database, list),
            Route(
                "POST", "\(customer)/orders/{order}/close", parameters: ["environment"],
                .help, .memory, close),
            Route(
                "GET", "/orders/{order}", parameters: ["environment"],
                headers: [.after], .submit, .database, order),
            Route(
                "PUT", "\(customer)/account_token", parameters: ["environment"],
                .submit, .memory, registerToken),
        ]
    }

    private func open(_ call: Call) throws(Problem) -> Wish<Response> {
        let body = try Body(orQueryOf: call, of: OrderRoutes.order)
        let stream = try call.stream(environment: try body.optionalText("environment"))
        let id: OrderID? = try body.optionalID("order")
        let product: ProductID? = try body.optionalID("product")
        let lifetime = try body.optionalDuration("lifetime")
        return orders.opening(
            id, product: product, lifetime: lifetime, for: stream, by: call.sender,
            allowingUnknown: try body.flag(Body.allowUnknown)
        ).response { .json($0.json, status: 201, position: $0.position) }
    }

    private func close(_ call: Call) throws(Problem) -> Wish<Response> {
        let id = try OrderID(member: "order", call.arguments[1])
        let body = try Body(call.body, of: ["because", "environment"] + Body.reasonNames)
        let stream = try call.stream(environment: try body.optionalText("environment"))
        let cause = try body.closing(by: call)
        return orders.closing(id, because: cause, of: stream, by: call.sender)
            .response { .json($0.json, position: $0.position) }
    }

    private func order(_ call: Call) throws(Problem) -> Response {
        let id = try OrderID(member: "order", call.arguments[0])
        let environment = try call.query.environment() ?? .production
        // Checks the position before and after the lookup, because neither a missing nor an outdated order is a
        // valid answer.
        try reads.demand(call.after, within: nil)
        try reading.certain()
        let answer = try obey(orders.find(id, of: call.access.project, in: environment))
        try reads.demand(call.after, within: answer.position)
        return .json(answer.json, position: answer.position)
    }

    private func list(_ call: Call) throws(Problem) -> Response {
        let stream = try call.stream()
        let after = try call.query.integer("after", in: 0...Int64(Int32.max), default: 0)
        let limit = try call.query.pageSize()
        try reading.certain()
        let answer = try ask(orders.list(of: stream, after: Int(after), limit: limit))
        try reads.demand(call.after, within: answer.position)
        return .json(answer.json, position: answer.position)
    }

    private func registerToken(_ call: Call) throws(Problem) -> Wish<Response> {
        let body = try Body(call.body, of: ["token", "environment"])
        let stream = try call.stream(environment: try body.optionalText("environment"))
        guard let token = AccountToken(try body.text("token")) else {
            throw .invalid(
                "token",
                "The member \"token\" must be a UUID like "
                    + "\"6f0a4f0e-8a0e-4b43-9f5d-0d1b6c0f8a11\".")
        }
        return orders.registering(token, for: stream, by: call.sender)
            .response { .json($0.json, position: $0.position) }
    }
}

extension Body {
    fileprivate func closing(by call: Call) throws(Problem) -> OrderClosed.Cause {
        let word: OrderClosed.Word = try word("because")
        return word.cause(try reason(of: call))
    }
}
