import Core
import HTTPServer
import JSON
import Service

/// The calls that admins use to move purchases between customers.
struct MoveRoutes: Sendable {
    let moves: Moves
    let blocks: Blocks
    let keeper: TermsKeeper

    var routes: [Route] {
        let purchase = "/customers/{customer}/purchases/{purchase}"
        let parameters = ["environment"] + QueryParameters.terms
        return [
            Route(
                "POST", "\(purchase)/transfer", parameters: parameters, .help, .database,
                transfer),
            Route(
                "POST", "\(purchase)/undo_transfer", parameters: parameters, .help,
                .database, undo),
            Route(
                "POST", "\(purchase)/block", parameters: parameters, .administer, .memory
            ) { call throws(Problem) in try block(call, isToHold: true) },
            Route(
                "POST", "\(purchase)/unblock", parameters: parameters, .administer, .memory
            ) { call throws(Problem) in try block(call, isToHold: false) },
        ]
    }

    private func transfer(_ call: Call) throws(Problem) -> Wish<Response> {
        let terms = try call.query.terms(concerning: 2...2)
        let purchase = try call.purchase()
        let body = try Body(call.body, of: ["to", "environment"] + Body.reasonNames)
        let stream = try call.stream(environment: try body.optionalText("environment"))
        let customer: CustomerID = try body.id("to")
        try customer.requireUnreserved("to")
        let reason = try body.reason(of: call)
        let wish = moves.transferring(
            purchase, from: stream, to: customer, reason: reason, by: call.sender)
        return keeper.response(to: wish, on: terms) { .json($0.json, position: $0.position) }
    }

    private func block(_ call: Call, isToHold: Bool) throws(Problem) -> Wish<Response> {
        let terms = try call.query.terms()
        let purchase = try call.purchase()
        let body = try Body(call.body, of: ["environment"] + Body.reasonNames)
        let stream = try call.stream(environment: try body.optionalText("environment"))
        let reason = try body.adminReason()
        let wish =
            isToHold
            ? blocks.blocking(purchase, of: stream, reason: reason, by: call.sender)
            : blocks.unblocking(purchase, of: stream, reason: reason, by: call.sender)
        return keeper.response(to: wish, on: terms) { .json($0.json, position: $0.position) }
    }

    private func undo(_ call: Call) throws(Problem) -> Wish<Response> {
        let terms = try call.query.terms(concerning: 1...2)
        let purchase = try call.purchase()
        let body = try Body(call.body, of: ["environment"] + Body.reasonNames)
        let stream = try call.stream(environment: try body.optionalText("environment"))
        let reason = try body.reason(of: call)
        let wish = moves.undoing(purchase, of: stream, reason: reason, by: call.sender)
        return keeper.response(to: wish, on: terms) { .json($0.json, position: $0.position) }
    }
}

extension Call {
    /// Returns the purchase named by the path argument with this index.
    func purchase(_ place: Int = 1) throws(Problem) -> PurchaseID {
        guard let purchase = PurchaseID(arguments[place]) else {
            throw .invalid(
                "purchase", "\"purchase\" takes a purchase's id like apple:2000000123.")
        }
        return purchase
    }
}
