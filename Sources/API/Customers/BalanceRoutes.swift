import Core
import HTTPServer
import Service

/// Calls that change balances, and one that lists the movements.
struct BalanceRoutes: Sendable {
    let balances: CustomerBalances
    let reading: any CustomerReading
    let keeper: TermsKeeper

    var routes: [Route] {
        let balance = "/customers/{customer}/balances/{currency}"
        return [
            Route(
                "POST", "\(balance)/spend", parameters: ["environment"] + QueryParameters.terms,
                .submit, .memory, spend),
            Route(
                "POST", "\(balance)/adjust", parameters: ["environment"] + QueryParameters.terms,
                .submit, .memory, adjust),
            Route(
                "GET", "\(balance)/history", parameters: QueryParameters.page,
                .read, .database, history),
        ]
    }

    private func spend(_ call: Call) throws(Problem) -> Wish<Response> {
        let terms = try call.query.terms()
        let body = try Body(
            call.body, of: ["amount", "reason", "environment", Body.allowUnknown])
        let stream = try call.stream(environment: try body.optionalText("environment"))
        let wish = SpendBalance(
            currency: try call.currency(),
            amount: try body.integer("amount", stating: 1...Balances.limit),
            reason: try body.optionalID("reason"))
        let allowsUnknown = try body.flag(Body.allowUnknown)
        let spending = balances.spending(
            wish, of: stream, by: call.sender, allowingUnknown: allowsUnknown)
        return keeper.response(to: spending, on: terms) { .json($0, of: stream) }
    }

    private func adjust(_ call: Call) throws(Problem) -> Wish<Response> {
        let terms = try call.query.terms()
        let body = try Body(
            call.body, of: ["amount", "environment", Body.allowUnknown] + Body.reasonNames)
        let stream = try call.stream(environment: try body.optionalText("environment"))
        let reason = try body.adminReason()
        let wish = AdjustBalance(
            currency: try call.currency(),
            amount: try body.integer("amount", stating: -Balances.limit...Balances.limit),
            reason: reason.reason, ticket: reason.ticket)
        let allowsUnknown = try body.flag(Body.allowUnknown)
        let role = call.access.key.role
        // A back end may only add coins that customers earn. Only an admin may take coins away.
        let mayTake = role.permissions.contains(.administer)
        if !mayTake, wish.amount < 0 { throw .wrongRole(needed: [.admin], held: role) }
        let adjusting = balances.adjusting(
            wish, of: stream, by: call.sender, isEarned: !mayTake, allowingUnknown: allowsUnknown)
        return keeper.response(to: adjusting, on: terms) { .json($0, of: stream) }
    }

    private func history(_ call: Call) throws(Problem) -> Response {
        let stream = try call.stream()
        let currency = try call.currency()
        let after = try call.query.integer("after", in: 0...Int64.max, default: 0)
        let limit = try call.query.pageSize()
        try reading.certain()
        return .json(
            try ask(balances.movements(of: currency, in: stream, after: after, limit: limit)).json)
    }
}

extension Response {
    fileprivate static func json(_ moved: RecordedMovement, of stream: Stream) -> Response {
        .json(moved.json(of: stream), position: moved.recorded.position)
    }
}

extension Call {
    fileprivate func currency() throws(Problem) -> CurrencyID {
        try CurrencyID(member: "currency", arguments[1])
    }
}
