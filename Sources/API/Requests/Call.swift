import Core
import HTTPServer
import Service

/// A request without a key, detached from its connection.
struct OpenCall: Sendable {
    let arguments: [String]
    let query: QueryParameters
    let body: [UInt8]
    let client: ClientAddress?

    init(
        _ request: borrowing Request, _ arguments: [String]?, of parameters: [String]
    ) throws(Problem) {
        guard let arguments else { throw .malformedPath }
        self.arguments = arguments
        // A call without parameters is answered even if a proxy or a store adds some.
        query = try QueryParameters(parameters.isEmpty ? nil : request.query, of: parameters)
        body = request.body
        client = request.client
    }
}

/// A request with a route and a valid key, detached from its connection.
struct Call: Sendable {
    let access: Route.Access
    let arguments: [String]
    let query: QueryParameters
    let body: [UInt8]
    let idempotencyKey: String?
    /// The position that the answer must include.
    let after: Position?
    /// The tags of the answers that the client has, from `If-None-Match`.
    let knownTags: String?

    var sender: Sender { Sender(actor: access.actor, idempotencyKey: idempotencyKey) }
}

extension Call {
    /// The customer that the path names, in the environment of the query or the body.
    func stream(environment inBody: String? = nil) throws(Problem) -> Stream {
        try stream(
            of: try CustomerID(member: "customer", arguments[0]), environment: inBody)
    }

    /// The customer in the environment of the query or the body.
    func stream(of customer: CustomerID, environment inBody: String?) throws(Problem) -> Stream {
        try customer.requireUnreserved("customer")
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

    /// A page of one of the project's lists; `form` describes a position in it.
    func page<Place, Page>(
        by read: (String) -> Place?, like form: String,
        of list: (ProjectID, Environment, Place?, Int) throws(CommandError) -> Page
    ) throws(Problem) -> Page {
        let environment = try query.environment() ?? .production
        let limit = try query.pageSize()
        var place: Place?
        if let text = query["after"] {
            place = read(text)
            if place == nil { throw .invalid("after", "\"after\" takes \(form).") }
        }
        return try obey(list(access.project, environment, place, limit))
    }
}

extension CustomerID {
    /// Throws if the customer is one of Deed's own streams.
    func requireUnreserved(_ member: String) throws(Problem) {
        if isReserved {
            throw .invalid(member, "\"\(member)\" begins with a prefix that Deed reserves.")
        }
    }
}
