package import Core
import HTTPServer
import Service

/// One call of the API: its path, its permitted callers, its cost, and its code.
final class Route: Sendable {
    /// What a key permits.
    struct Access: Sendable {
        let key: LiveKey

        var project: ProjectID { key.project }
        /// The key's id leaves room for the prefix, because Deed made it.
        var actor: Actor { Actor(prefix: "key:", random: key.key.text) }
    }

    enum Callers: Sendable {
        case anyone(Receive)
        /// Keys with these roles, the one with the fewest permissions first.
        case keys([Role], Work)
    }

    /// The resources that an answer needs.
    enum Cost: Sendable {
        /// Only reading the body and memory: if memory knows the key, the connection's own thread starts
        /// the call.
        case memory
        /// A database lookup first, which needs a worker.
        case database
        /// A worker's time to judge evidence, and then a command.
        case evidence
    }
    typealias Work = @Sendable (Call) throws(Problem) -> Reaction
    /// Decides what a call without a key may cost.
    typealias Receive = @Sendable (OpenCall) throws(Problem) -> (Room, Reaction)

    let method: String
    /// The path after the surface's prefix, such as `/customers/{customer}/grants`. A part `{name}`
    /// is an argument, and a final `{name*}` takes the rest of the path.
    let pattern: String
    /// The parameters that the call takes.
    let parameters: [String]
    /// The headers that the call reads; it ignores all others.
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

    /// A file for anyone, whose bytes do not change while the process runs.
    static func file(_ pattern: String, type: String, _ content: LastingBody) -> Route {
        let file = Response(
            status: 200, headers: [Header(.contentType, type), Response.askAgain], body: content)
        return Route("GET", pattern, .memory) { _ in (.known, file.reaction) }
    }

    /// The permitted roles; `nil` if no key is needed.
    var roles: [Role]? {
        if case .keys(let roles, _) = callers { roles } else { nil }
    }
}

/// The request headers that calls read, besides the one with the key. Each route lists its own.
package enum RequestHeader: CaseIterable, Sendable {
    case idempotencyKey
    /// A position in the log that the answer must include.
    case after
    /// The tags of the answers that the client has.
    case knownTags

    package var name: StaticString {
        switch self {
        case .idempotencyKey: "Idempotency-Key"
        case .after: "Deed-After"
        case .knownTags: "If-None-Match"
        }
    }
}

/// A route's own description, for comparison with the document.
package struct RouteOutline: Sendable {
    package let method: String
    package let pattern: String
    package let parameters: [String]
    package let headers: [RequestHeader]
    package let bodyLimit: Int
    /// The lowest permitted role; `nil` if no key is needed.
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
    /// The roles with the permission, the one with the fewest other permissions first.
    fileprivate static func all(with permission: Permission) -> [Role] {
        allCases.filter { $0.permissions.contains(permission) }
            .sorted { $0.permissions.count < $1.permissions.count }
    }
}

extension Route.Access {
    /// The access that a key gives; throws if its role is not permitted.
    init(_ key: LiveKey, _ roles: [Role]) throws(Problem) {
        if !roles.contains(key.role) {
            throw .wrongRole(needed: roles.first ?? .admin, held: key.role)
        }
        self.init(key: key)
    }
}
