import Core
import HTTPServer
import JSON
import Service

/// The calls about one customer.
struct CustomerRoutes: Sendable {
    private static let pageLimit: Int64 = 1000
    private let ports: Ports

    init(_ ports: Ports) {
        self.ports = ports
    }

    var routes: [Route] {
        let customer = "/v1/customers/{customer}"
        return [
            Route("GET", "\(customer)/entitlements", .keyed(.reader, entitlements)),
            Route("GET", "\(customer)/entitlements/{entitlement}", .keyed(.reader, entitlement)),
            Route("GET", "\(customer)/explain", .keyed(.reader, explain)),
            Route("GET", "\(customer)/balances", .keyed(.reader, balances)),
            Route("GET", "\(customer)/events", .keyed(.reader, events)),
            Route("POST", "\(customer)/grants", .writing(.admin, giveGrant)),
            Route("DELETE", "\(customer)/grants/{grant}", .writing(.admin, revokeGrant)),
        ]
    }

    private func entitlements(_ call: Call) throws(Problem) -> Response {
        let answer = try read(call)
        return .json(answer.json, position: answer.position)
    }

    private func entitlement(_ call: Call) throws(Problem) -> Response {
        let id = try EntitlementID(member: "entitlement", call.arguments[1])
        let answer = try read(call)
        return .json(answer.json(of: id), position: answer.position)
    }

    private func read(_ call: Call) throws(Problem) -> EntitlementsAnswer {
        let stream = try call.stream()
        if let consistency = call.query["consistency"], consistency != "strong" {
            throw .invalid("consistency", "The parameter \"consistency\" takes \"strong\" only.")
        }
        let at = try call.query.instant("at")
        let known = try call.query.instant("known")
        do throws(Fault) {
            return try ports.entitlements(of: stream, at: at, known: known)
        } catch {
            throw Problem(error)
        }
    }

    private func explain(_ call: Call) throws(Problem) -> Response {
        let stream = try call.stream()
        guard let text = call.query["entitlement"] else {
            throw .invalid("entitlement", "Name the entitlement to explain: ?entitlement=…")
        }
        let entitlement = try EntitlementID(member: "entitlement", text)
        let at = try call.query.instant("at")
        let known = try call.query.instant("known")
        do throws(Fault) {
            let answer = try ports.explanation(of: entitlement, for: stream, at: at, known: known)
            return .json(answer.json, position: answer.position)
        } catch {
            throw Problem(error)
        }
    }

    private func balances(_ call: Call) throws(Problem) -> Response {
        let stream = try call.stream()
        do throws(Fault) {
            let answer = try ports.balances(of: stream)
            return .json(answer.json, position: answer.position)
        } catch {
            throw Problem(error)
        }
    }

    private func events(_ call: Call) throws(Problem) -> Response {
        let stream = try call.stream()
        let after = try call.query.integer("after", in: 0...Int64.max, default: 0)
        let limit = try call.query.integer("limit", in: 1...CustomerRoutes.pageLimit, default: 100)
        do throws(Fault) {
            return .json(try ports.events(of: stream, after: after, limit: Int(limit)).json)
        } catch {
            throw Problem(error)
        }
    }

    private func giveGrant(_ call: Call) throws(Problem) -> Writing {
        let body = try Body(call.body)
        let stream = try call.stream(environment: try body.optionalText("environment"))
        let entitlement: EntitlementID = try body.id("entitlement")
        let start = try body.optionalInstant("start")
        let end = try body.grantEnd()
        let reason = try body.adminReason()
        let wish = ports.givingGrant(
            entitlement, from: start, until: end, reason: reason, to: stream, by: call.sender)
        return Writing(wish) { answer in
            .json(answer.json(of: stream), status: 201, position: answer.position)
        }
    }

    private func revokeGrant(_ call: Call) throws(Problem) -> Writing {
        let grant = try GrantID(member: "grant", call.arguments[1])
        // Not every client can send a body with DELETE.
        let body = try call.body.isEmpty ? Body(query: call.query) : Body(call.body)
        let stream = try call.stream(environment: try body.optionalText("environment"))
        let reason = try body.adminReason()
        let wish = ports.revokingGrant(grant, reason: reason, of: stream, by: call.sender)
        return Writing(wish) { answer in
            .json(answer.json(of: stream), position: answer.position)
        }
    }
}

extension Call {
    /// The customer that the path names, in the environment of the query or the body.
    func stream(environment inBody: String? = nil) throws(Problem) -> Stream {
        let customer = try CustomerID(member: "customer", arguments[0])
        if customer.isReserved {
            throw .invalid(
                "customer", "\"customer\" begins with a name that Deed keeps for itself.")
        }
        let inQuery = try query.environment()
        let environment = try inBody.map { text throws(Problem) in
            try Environment(member: "environment", text)
        }
        if let environment, let inQuery, environment != inQuery {
            throw .invalid("environment", "Query and body name two different environments.")
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
