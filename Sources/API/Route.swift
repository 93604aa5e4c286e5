package import Core
import HTTPServer
import Service

/// A call in the API: its path, its callers, its cost, and its code.
final class Route: Sendable {
    /// What a key permits.
    struct Access: Sendable {
        let key: LiveKey
        /// The person who makes the call, if any. The key then represents the person's permissions.
        var person: PersonID?

        var project: ProjectID { key.project }
        /// The actor of the call. The prefix always fits, because Deed created both ids.
        var actor: Actor {
            guard let person else { return Actor(prefix: "key:", random: key.key.text) }
            return Actor(prefix: "person:", random: person.text)
        }
    }

    enum Callers: Sendable {
        case anyone(Receive)
        /// Keys with these roles, starting with the fewest permissions.
        case keys([Role], Work)
    }

    /// The resources that a call needs.
    enum Cost: Sendable {
        /// The call needs only its body and data in memory. If the key is in memory as well, the connection's own
        /// thread starts the call.
        case memory
        /// The call begins with a database lookup, which needs a worker.
        case database
        /// A worker has to judge evidence before the call can submit a command.
        case evidence
    }
    typealias Work = @Sendable (Call) throws(Problem) -> Reaction
    /// Chooses the room in which a call without a key waits, and how the call continues.
    typealias Receive = @Sendable (OpenCall) throws(Problem) -> (Room, Reaction)

    let method: String
    /// The path after the surface's prefix, such as `/customers/{customer}/grants`. `{name}` is an argument. A final
    /// `{name*}` matches the rest of the path.
    let pattern: String
    /// The parameters that the call accepts.
    let parameters: [String]
    /// The headers that the call reads. All others are ignored.
    let headers: [RequestHeader]
    /// Additional headers that a call without a key reads.
    let lines: [StaticString]
    /// The maximum size of the call's body.
    let bodyLimit: Int
    let callers: Callers
    let cost: Cost
    let subject: Subject

    /// Creates a call for keys that have a certain permission. Unless stated otherwise, a write may
    /// be repeated.
    init<Outcome: Reacting>(
        _ method: String, _ pattern: String, parameters: [String] = [],
        headers: [RequestHeader]? = nil, bodyLimit: Int = Router.bodyLimit,
        _ permission: Permission, _ cost: Cost, about subject: Subject? = nil,
        _ work: @escaping @Sendable (Call) throws(Problem) -> Outcome
    ) {
        self.method = method
        self.pattern = pattern
        self.parameters = parameters
        self.headers = headers ?? (method == "GET" ? [] : [.idempotencyKey])
        lines = []
        self.bodyLimit = bodyLimit
        self.cost = cost
        self.subject = subject ?? Subject(method, parameters)
        callers = .keys(Role.all(with: permission)) { call throws(Problem) in
            try work(call).reaction
        }
    }

    /// Creates a call that anyone may make.
    init(
        _ method: String, _ pattern: String, parameters: [String] = [],
        bodyLimit: Int = Router.bodyLimit, _ cost: Cost, lines: [StaticString] = [],
        anyone receive: @escaping Receive
    ) {
        self.method = method
        self.pattern = pattern
        self.bodyLimit = bodyLimit
        self.cost = cost
        self.parameters = parameters
        subject = .found
        headers = []
        self.lines = lines
        callers = .anyone(receive)
    }

    /// Returns a route to a file that anyone may fetch. The content does not change while the process runs.
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

/// Headers that calls read in addition to the header with the key. Each route lists its own.
package enum RequestHeader: CaseIterable, Sendable {
    case idempotencyKey
    /// A position in the log that the answer must include.
    case after
    /// The tags of the answers that the client already has.
    case knownTags

    package var name: StaticString {
        switch self {
        case .idempotencyKey: "Idempotency-Key"
        case .after: "Deed-After"
        case .knownTags: "If-None-Match"
        }
    }
}

/// A description of a route, to compare with the API document.
package struct RouteOutline: Sendable {
    package let method: String
    package let pattern: String
    package let parameters: [String]
    package let headers: [RequestHeader]
    package let bodyLimit: Int
    /// The permitted roles, starting with the fewest permissions; `nil` if no key is needed.
    package let roles: [Role]?

    init(_ route: Route, behind prefix: String) {
        method = route.method
        pattern = prefix + route.pattern
        parameters = route.parameters
        headers = route.headers
        bodyLimit = route.bodyLimit
        roles = route.roles
    }
}

extension Role {
    /// Roles that have the permission, starting with the fewest permissions.
    fileprivate static func all(with permission: Permission) -> [Role] {
        // Relies on roles being declared in order of increasing permissions.
        allCases.filter { $0.permissions.contains(permission) }
    }
}

extension Route.Access {
    /// Determines the access that a key grants. Throws if the key has expired or its role is not permitted.
    init(_ key: LiveKey, _ roles: [Role], by ring: KeyRing) throws(Problem) {
        // The clock is read only for keys that expire.
        if key.limits.expires != nil, key.limits.hasExpired(at: ring.now) {
            throw .keyExpired(key.limits)
        }
        if !roles.contains(key.role) {
            throw .wrongRole(needed: roles, held: key.role)
        }
        self.init(key: key)
    }
}
