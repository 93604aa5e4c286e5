package import Core
import HTTPServer
import Service

/// One call of the API: where it is, who may make it, what it costs, and what answers it.
final class Route: Sendable {
    /// What a key opened.
    struct Access: Sendable {
        let key: LiveKey

        var project: ProjectID { key.project }
        /// The key's id has room for the prefix: Deed made it.
        var actor: Actor { Actor(prefix: "key:", random: key.key.text) }
    }

    enum Callers: Sendable {
        case anyone(Receive)
        /// Keys of these roles, the one that may do least first.
        case keys([Role], Work)
    }

    /// What an answer takes.
    enum Cost: Sendable {
        /// No more than to read the body and to look into memory: a call whose key memory knows is begun by
        /// the thread that serves its connection.
        case memory
        /// A look into the database first, for which a worker waits.
        case database
        /// A worker's time to judge evidence, which leads to a command.
        case evidence
    }
    typealias Work = @Sendable (Call) throws(Problem) -> Reaction
    /// Decides what a call may cost that came without a key.
    typealias Receive = @Sendable (OpenCall) throws(Problem) -> (Room, Reaction)

    let method: String
    /// Behind the prefix of its surface, as in `/customers/{customer}/grants`. A part `{name}` is an
    /// argument, and a last one `{name*}` takes all that is left of the path.
    let pattern: String
    /// The parameters that the call takes.
    let parameters: [String]
    /// The headers that the call reads; any other says nothing to it.
    let headers: [RequestHeader]
    /// The longest body that the call takes.
    let bodyLimit: Int
    let callers: Callers
    let cost: Cost

    /// A call for keys with a permission. A write may be repeated unless it says otherwise.
    init<Outcome: Reacting>(
        _ method: String, _ pattern: String, parameters: [String] = [],
        headers: [RequestHeader]? = nil, bodyLimit: Int = Router.bodyLimit,
        _ permission: Permission, _ cost: Cost,
        _ work: @escaping @Sendable (Call) throws(Problem) -> Outcome
    ) {
        self.method = method
        self.pattern = pattern
        self.parameters = parameters
        self.headers = headers ?? (method == "GET" ? [] : [.idempotencyKey])
        self.bodyLimit = bodyLimit
        self.cost = cost
        callers = .keys(Role.all(with: permission)) { call throws(Problem) in
            try work(call).reaction
        }
    }

    /// A call for anyone.
    init(
        _ method: String, _ pattern: String, parameters: [String] = [],
        bodyLimit: Int = Router.bodyLimit, _ cost: Cost, anyone receive: @escaping Receive
    ) {
        self.method = method
        self.pattern = pattern
        self.bodyLimit = bodyLimit
        self.cost = cost
        self.parameters = parameters
        headers = []
        callers = .anyone(receive)
    }

    /// A file for anyone, whose bytes are the same for as long as the process runs.
    static func file(_ pattern: String, type: String, _ content: LastingBody) -> Route {
        let file = Response(
            status: 200, headers: [Header(.contentType, type), Response.askAgain], body: content)
        return Route("GET", pattern, .memory) { _ in (.known, file.reaction) }
    }

    /// What a key may be; `nil` where none is needed.
    var roles: [Role]? {
        if case .keys(let roles, _) = callers { roles } else { nil }
    }
}

/// The headers of requests that calls read, beside the one that shows a key. Each route lists its own.
package enum RequestHeader: CaseIterable, Sendable {
    case idempotencyKey
    /// A place in the log that the answer must come after.
    case after
    /// The tags of answers that the reader has.
    case knownTags

    package var name: StaticString {
        switch self {
        case .idempotencyKey: "Idempotency-Key"
        case .after: "Deed-After"
        case .knownTags: "If-None-Match"
        }
    }
}

/// How a route describes itself, to be compared with the document.
package struct RouteOutline: Sendable {
    package let method: String
    package let pattern: String
    package let parameters: [String]
    package let headers: [RequestHeader]
    package let bodyLimit: Int
    /// The least that a key must be; `nil` where none is needed.
    package let role: Role?

    init(_ route: Route, behind prefix: String) {
        method = route.method
        pattern = prefix + route.pattern
        parameters = route.parameters
        headers = route.headers
        bodyLimit = route.bodyLimit
        role = route.roles?.first
    }
}

extension Role {
    /// Those with the permission, the one with the fewest others first.
    fileprivate static func all(with permission: Permission) -> [Role] {
        allCases.filter { $0.permissions.contains(permission) }
            .sorted { $0.permissions.count < $1.permissions.count }
    }
}

extension Route.Access {
    /// What a key opens, unless it has another role.
    init(_ key: LiveKey, _ roles: [Role]) throws(Problem) {
        if !roles.contains(key.role) {
            throw .wrongRole(needed: roles.first ?? .admin, held: key.role)
        }
        self.init(key: key)
    }
}
