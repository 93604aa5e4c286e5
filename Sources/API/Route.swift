package import Core
import HTTPServer
import Service

/// One call of the API: where it is, who may make it, and what answers it.
struct Route: Sendable {
    /// What a key opened.
    struct Access: Sendable {
        let key: LiveKey

        var project: ProjectID { key.project }
        /// The key's id has room for the prefix: Deed made it.
        var actor: Actor { Actor(prefix: "key:", random: key.key.text) }
    }

    enum Handling: Sendable {
        /// For anyone, from memory.
        case open(@Sendable () -> Response)
        /// For keys of a role or a stronger one; waits for the database.
        case keyed(Role, Respond)
        /// The same, where memory may have the answer.
        case reading(Role, Read)
        /// For anyone, about a body that proves itself; answered when its commands are committed. What
        /// it may cost is decided first.
        case unkeyed(Receive)
        /// For keys of a role or a stronger one; answered when its commands are committed. To make
        /// them takes no longer than to read the body, and nothing else.
        case writing(Role, Write)
        /// The same, where to make them takes a while: it is done by a worker.
        case judging(Role, Write)
    }
    typealias Receive =
        @Sendable (_ body: [UInt8], _ client: ClientAddress?) -> (
            Room, @Sendable () -> Writing
        )
    typealias Respond = @Sendable (Call) throws(Problem) -> Response
    typealias Read = @Sendable (Call) throws(Problem) -> Reading
    typealias Write = @Sendable (Call) throws(Problem) -> Writing

    let method: String
    /// As in `/v1/customers/{customer}/grants`.
    let pattern: String
    /// The parameters that the call takes.
    let parameters: [String]
    /// The longest body that the call takes.
    let bodyLimit: Int
    let handling: Handling

    init(
        _ method: String, _ pattern: String, parameters: [String] = [],
        bodyLimit: Int = Router.bodyLimit, _ handling: Handling
    ) {
        self.method = method
        self.pattern = pattern
        self.parameters = parameters
        self.bodyLimit = bodyLimit
        self.handling = handling
    }
}

/// What comes of reading.
enum Reading {
    typealias Asking = (_ give: @escaping @Sendable (Response) -> Void) -> Void

    /// Memory has the answer.
    case now(Response)
    /// It is given as soon as what it takes is there; to ask for that takes no time.
    case underway(Asking)
    /// The same, where to ask takes a while.
    case waiting(Asking)
}

/// What a route says of itself to those who compare it with the document.
package struct RouteOutline: Sendable {
    package let method: String
    package let pattern: String
    package let parameters: [String]
    package let bodyLimit: Int
    /// The least that a key must be; `nil` where none is needed.
    package let role: Role?

    init(_ route: Route) {
        method = route.method
        pattern = route.pattern
        parameters = route.parameters
        bodyLimit = route.bodyLimit
        role =
            switch route.handling {
            case .open, .unkeyed: nil
            case .keyed(let role, _), .reading(let role, _), .writing(let role, _),
                .judging(let role, _):
                role
            }
    }
}

/// A request that found its route and whose key opens it, taken out of the connection.
struct Call: Sendable {
    let access: Route.Access
    let arguments: [String]
    let query: QueryParameters
    let body: [UInt8]
    let idempotencyKey: String?
    /// What the answer must come after.
    let after: Position?
    /// The tags of answers that the reader has, as `If-None-Match` lists them.
    let knownTags: String?

    var sender: Sender { Sender(actor: access.actor, idempotencyKey: idempotencyKey) }
}
