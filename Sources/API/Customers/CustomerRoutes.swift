import Core
import HTTPServer
import JSON
import Service

/// The calls that change a customer.
struct CustomerRoutes: Sendable {
    private static let revocation = ["environment"] + Body.reasonNames
    let ports: Ports

    var routes: [Route] {
        let customer = "/customers/{customer}"
        return [
            Route(
                "POST", "\(customer)/grants", parameters: ["environment"],
                .administer, .memory, giveGrant),
            Route(
                "DELETE", "\(customer)/grants/{grant}", parameters: CustomerRoutes.revocation,
                .administer, .memory, revokeGrant),
        ]
    }

    private func giveGrant(_ call: Call) throws(Problem) -> Wish<Response> {
        let body = try Body(
            call.body,
            of: ["entitlement", "start", "end", "for", "environment", Body.allowUnknown]
                + Body.reasonNames)
        let stream = try call.stream(environment: try body.optionalText("environment"))
        let entitlement: EntitlementID = try body.id("entitlement")
        let start = try body.optionalInstant("start")
        let end = try body.grantEnd()
        let reason = try body.adminReason()
        let wish = ports.givingGrant(
            entitlement, from: start, until: end, reason: reason, to: stream, by: call.sender,
            allowingUnknown: try body.flag(Body.allowUnknown))
        return wish.response { answer in
            .json(answer.json(of: stream), status: 201, position: answer.position)
        }
    }

    private func revokeGrant(_ call: Call) throws(Problem) -> Wish<Response> {
        let grant = try GrantID(member: "grant", call.arguments[1])
        let body = try Body(orQueryOf: call, of: CustomerRoutes.revocation)
        let stream = try call.stream(environment: try body.optionalText("environment"))
        let reason = try body.adminReason()
        let wish = ports.revokingGrant(grant, reason: reason, of: stream, by: call.sender)
        return wish.response { answer in
            .json(answer.json(of: stream), position: answer.position)
        }
    }
}

extension Call {
    /// The customer that the path names, in the environment of the query or the body.
    func stream(environment inBody: String? = nil) throws(Problem) -> Stream {
        try stream(
            of: try CustomerID(member: "customer", arguments[0]), environment: inBody)
    }

    /// The customer in the environment of the query or the body.
    func stream(of customer: CustomerID, environment inBody: String?) throws(Problem) -> Stream {
        if customer.isReserved {
            throw .invalid(
                "customer", "\"customer\" begins with a prefix that Deed reserves.")
        }
        let inQuery = try query.environment()
        let environment = try inBody.map { text throws(Problem) in
            try Environment(member: "environment", text)
        }
        if let environment, let inQuery, environment != inQuery {
            throw .invalid("environment", "The query and the body name different environments.")
        }
        return Stream(
            project: access.project, environment: environment ?? inQuery ?? .production,
            customer: customer)
    }
}

extension Body {
    fileprivate func grantEnd() throws(Problem) -> GiveGrant.End {
        let end = try optionalInstant("end")
        let duration = try optionalDuration("for")
        switch (end, duration) {
        case (.some, .some):
            throw .invalid("for", "Give \"end\" or \"for\", not both.")
        case (let end?, nil): return .at(end)
        case (nil, let duration?): return .after(duration)
        case (nil, nil): return .never
        }
    }
}
