import Core
import HTTPServer
import JSON
import Service

/// The calls that admins use to give, change and revoke grants.
struct GrantRoutes: Sendable {
    private static let revocation = ["environment"] + Body.reasonNames
    let grants: Grants
    let keeper: TermsKeeper

    var routes: [Route] {
        let grants = "/customers/{customer}/grants"
        let parameters = ["environment"] + QueryParameters.terms
        return [
            Route("POST", grants, parameters: parameters, .help, .memory, giveGrant),
            Route(
                "PATCH", "\(grants)/{grant}", parameters: parameters, .help, .memory,
                changeGrant),
            Route(
                "DELETE", "\(grants)/{grant}",
                parameters: GrantRoutes.revocation + QueryParameters.terms,
                .help, .memory, revokeGrant),
        ]
    }

    private func giveGrant(_ call: Call) throws(Problem) -> Wish<Response> {
        let terms = try call.query.terms()
        let body = try Body(
            call.body,
            of: ["entitlement", "start", "end", "for", "environment", Body.allowUnknown]
                + Body.reasonNames)
        let stream = try call.stream(environment: try body.optionalText("environment"))
        let entitlement: EntitlementID = try body.id("entitlement")
        let time = try body.grantTime()
        let reason = try body.reason(of: call)
        let wish = grants.giving(
            entitlement, for: time, reason: reason, to: stream, by: call.sender,
            allowingUnknown: try body.flag(Body.allowUnknown), isRehearsal: terms.isRehearsal)
        return keeper.response(to: call.limited(wish), on: terms) { answer in
            .json(answer.json(of: stream), status: 201, position: answer.position)
        }
    }

    private func changeGrant(_ call: Call) throws(Problem) -> Wish<Response> {
        let terms = try call.query.terms()
        let grant = try GrantID(member: "grant", call.arguments[1])
        let body = try Body(
            call.body, of: ["end", "for", "for_ever", "environment"] + Body.reasonNames)
        let stream = try call.stream(environment: try body.optionalText("environment"))
        let end = try body.newGrantEnd()
        let reason = try body.reason(of: call)
        let wish = grants.changing(grant, until: end, reason: reason, of: stream, by: call.sender)
        return keeper.response(to: call.limited(wish), on: terms) { answer in
            .json(answer.json(of: stream), position: answer.position)
        }
    }

    private func revokeGrant(_ call: Call) throws(Problem) -> Wish<Response> {
        let terms = try call.query.terms()
        let grant = try GrantID(member: "grant", call.arguments[1])
        let body = try Body(orQueryOf: call, of: GrantRoutes.revocation)
        let stream = try call.stream(environment: try body.optionalText("environment"))
        let reason = try body.reason(of: call)
        let wish = grants.revoking(grant, reason: reason, of: stream, by: call.sender)
        return keeper.response(to: call.limited(wish), on: terms) { answer in
            .json(answer.json(of: stream), position: answer.position)
        }
    }
}

extension Body {
    /// The value of `start` for a grant that begins when the current access ends.
    private static let afterCurrent = "after_current"

    fileprivate func grantTime() throws(Problem) -> GiveGrant.Time {
        if try optionalText("start") == Body.afterCurrent {
            if holdsValue("end") {
                throw .invalid(
                    "end",
                    "A grant after the present access needs \"for\" instead of \"end\", because its start is not known in advance."
                )
            }
            guard let duration = try optionalDuration("for") else {
                throw .missing(
                    "for",
                    "The member \"for\" is missing; send how long a grant after the present access lasts."
                )
            }
            return .afterCurrent(duration)
        }
        return .from(try grantStart(), until: try grantEnd())
    }

    private func grantStart() throws(Problem) -> Instant? {
        guard let text = try optionalText("start") else { return nil }
        guard let instant = Instant(text: text) else {
            throw .invalid(
                "start",
                "The member \"start\" must be an instant like \"2026-11-20T19:21:00Z\", or "
                    + "\"\(Body.afterCurrent)\".")
        }
        return instant
    }

    private func grantEnd() throws(Problem) -> GiveGrant.End {
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

    /// Returns when a grant ends. A grant lasts for ever only if the body says so.
    fileprivate func newGrantEnd() throws(Problem) -> GiveGrant.End {
        let end = try grantEnd()
        let isForEver = try flag("for_ever")
        switch end {
        case .never where !isForEver:
            throw .missing("end", "Give \"end\", \"for\", or \"for_ever\": true.")
        case .at where isForEver, .after where isForEver:
            throw .invalid("for_ever", "Give exactly one of \"end\", \"for\" and \"for_ever\".")
        default: return end
        }
    }
}
