import Core
import HTTPServer
import Service

/// A request without a key, detached from its connection.
struct OpenCall: Sendable {
    let arguments: [String]
    let query: QueryParameters
    let body: [UInt8]
    let client: ClientAddress?
    let way: RequestWay?
    /// The path and the query as sent, for routes that read additional headers.
    let path: String
    let rawQuery: String?
    /// The values of the route's own headers, by name.
    let lines: [String: String]

    init(
        _ request: borrowing Request, _ arguments: [String]?, for route: Route
    ) throws(Problem) {
        let parameters = route.parameters
        guard let arguments else { throw .malformedPath }
        self.arguments = arguments
        // If the call takes no parameters, ignores any, because a proxy or a store may have added
        // some.
        query = try QueryParameters(parameters.isEmpty ? nil : request.query, of: parameters)
        body = request.body
        client = request.client
        way = route.lines.isEmpty ? nil : request.way
        path = route.lines.isEmpty ? "" : request.path
        rawQuery = request.query
        var lines: [String: String] = [:]
        for name in route.lines { lines["\(name)"] = try request.single(name) }
        self.lines = lines
    }
}

/// A request with a route and a valid key, detached from its connection.
struct Call: Sendable {
    let access: Route.Access
    let arguments: [String]
    let query: QueryParameters
    let body: [UInt8]
    let idempotencyKey: String?
    /// A position that the answer must include.
    let after: Position?
    /// Tags of answers that the client already has, from `If-None-Match`.
    let knownTags: String?

    var sender: Sender { Sender(actor: access.actor, idempotencyKey: idempotencyKey) }
}

extension Call {
    /// Returns the customer in the path, in the environment of the query or the body.
    func stream(environment inBody: String? = nil) throws(Problem) -> Stream {
        try stream(
            of: try CustomerID(member: "customer", arguments[0]), environment: inBody)
    }

    func customer() throws(Problem) -> CustomerID {
        let customer = try CustomerID(member: "customer", arguments[0])
        try customer.requireUnreserved("customer")
        return customer
    }

    func stream(of customer: CustomerID, environment inBody: String?) throws(Problem) -> Stream {
        try customer.requireUnreserved("customer")
        let inQuery = try query.environment()
        let environment = try inBody.map { text throws(Problem) in
            try Environment(member: "environment", text)
        }
        if let environment, let inQuery, environment != inQuery {
            throw .invalid("environment", "The query and the body name different environments.")
        }
        let named = environment ?? inQuery ?? .production
        try access.require(named)
        return Stream(project: access.project, environment: named, customer: customer)
    }

    /// Returns a page from one of the project's lists. `form` describes the format of its positions.
    func page<Place, Page>(
        by read: (String) -> Place?, like form: String,
        of list: (ProjectID, Environment, Place?, Int) throws(CommandError) -> Page
    ) throws(Problem) -> Page {
        let environment = try query.environment() ?? .production
        let limit = try query.pageSize()
        let place = try query.place(by: read, like: form)
        return try obey(list(access.project, environment, place, limit))
    }
}

extension CustomerID {
    /// Throws if the name belongs to one of Deed's reserved streams.
    func requireUnreserved(_ member: String) throws(Problem) {
        if isReserved {
            throw .invalid(member, "\"\(member)\" begins with a prefix that Deed reserves.")
        }
    }
}
