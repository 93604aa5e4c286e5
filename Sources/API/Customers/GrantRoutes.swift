import Core
import HTTPServer
import JSON
import Service

/// The calls by which admins give customers something or revoke it.
struct GrantRoutes: Sendable {
    private static let revocation = ["environment"] + Body.reasonNames
    let grants: Grants

    var routes: [Route] {
        let customer = "/customers/{customer}"
        return [
            Route(
                "POST", "\(customer)/grants", parameters: ["environment"],
                .administer, .memory, giveGrant),
            Route(
                "DELETE", "\(customer)/grants/{grant}", parameters: GrantRoutes.revocation,
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
        let wish = grants.giving(
            entitlement, from: start, until: end, reason: reason, to: stream, by: call.sender,
            allowingUnknown: try body.flag(Body.allowUnknown))
        return wish.response { answer in
            .json(answer.json(of: stream), status: 201, position: answer.position)
        }
    }

    private func revokeGrant(_ call: Call) throws(Problem) -> Wish<Response> {
        let grant = try GrantID(member: "grant", call.arguments[1])
        let body = try Body(orQueryOf: call, of: GrantRoutes.revocation)
        let stream = try call.stream(environment: try body.optionalText("environment"))
        let reason = try body.adminReason()
        let wish = grants.revoking(grant, reason: reason, of: stream, by: call.sender)
        return wish.response { answer in
            .json(answer.json(of: stream), position: answer.position)
        }
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
