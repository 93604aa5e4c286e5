import Core
import HTTPServer
import JSON
import Service

/// The calls by which admins move purchases between customers.
struct MoveRoutes: Sendable {
    private let ports: Ports

    init(_ ports: Ports) {
        self.ports = ports
    }

    var routes: [Route] {
        let purchase = "/v1/customers/{customer}/purchases/{purchase}"
        return [
            Route(
                "POST", "\(purchase)/transfer", parameters: ["environment"],
                .keyed(.admin, transfer)),
            Route(
                "POST", "\(purchase)/undo_transfer", parameters: ["environment"],
                .keyed(.admin, undo)),
        ]
    }

    private func transfer(_ call: Call) throws(Problem) -> Response {
        let purchase = try call.purchase()
        let body = try Body(call.body, of: ["to", "environment"] + Body.reasonNames)
        let stream = try call.stream(environment: try body.optionalText("environment"))
        let customer: CustomerID = try body.id("to")
        if customer.isReserved {
            throw .invalid("to", "\"to\" begins with a name that Deed keeps for itself.")
        }
        let reason = try body.adminReason()
        do throws(CommandError) {
            let answer = try ports.transfer(
                purchase, from: stream, to: customer, reason: reason, by: call.sender)
            return .json(answer.json, position: answer.position)
        } catch {
            throw Problem(error)
        }
    }

    private func undo(_ call: Call) throws(Problem) -> Response {
        let purchase = try call.purchase()
        let body = try Body(call.body, of: ["environment"] + Body.reasonNames)
        let stream = try call.stream(environment: try body.optionalText("environment"))
        let reason = try body.adminReason()
        do throws(CommandError) {
            let answer = try ports.undoTransfer(
                purchase, of: stream, reason: reason, by: call.sender)
            return .json(answer.json, position: answer.position)
        } catch {
            throw Problem(error)
        }
    }
}

extension Call {
    /// The purchase that the path names at that place.
    func purchase(_ place: Int = 1) throws(Problem) -> PurchaseID {
        guard let purchase = PurchaseID(arguments[place]) else {
            throw .invalid(
                "purchase", "\"purchase\" takes a purchase's id like apple:2000000123.")
        }
        return purchase
    }
}
