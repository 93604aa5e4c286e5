import Core
package import HTTPServer
import Service
package import Telemetry
import Threading

/// The dispatcher of requests. It determines the surface, route, method, key and role, and then calls the route.
package final class Router: Sendable {
    /// The maximum body size of an ordinary call.
    package static let bodyLimit = 64 << 10

    /// All calls that the router serves.
    package let outlines: [RouteOutline]
    private let routes: RouteTable<ServedRoute>
    let surfaces: [Surface]
    let unrouted: RouteMeasures
    let failedKeys: FailedKeys
    private let ledger: any EventLog

    init(
        _ surfaces: [Surface], _ useCases: UseCases, keys: KeyRing, _ metrics: Metrics, _ log: Log
    ) {
        var table = RouteTable<ServedRoute>()
        var outlines: [RouteOutline] = []
        for surface in surfaces {
            let door = KeyDoor(surface.keys, keys)
            for route in surface.routes {
                let outline = RouteOutline(route, behind: surface.prefix)
                let measures = RouteMeasures(
                    metrics, route: outline.pattern, method: outline.method)
                table.add(
                    ServedRoute(
                        "\(outline.method) \(outline.pattern)", route: route, door: door,
                        refusal: surface.refusal, measures: measures),
                    method: outline.method, pattern: outline.pattern)
                outlines.append(outline)
            }
        }
        self.surfaces = surfaces
        self.outlines = outlines
        routes = table
        unrouted = RouteMeasures(metrics, route: "none", method: "any")
        failedKeys = FailedKeys(metrics, log, now: useCases.ports.machineClock)
        ledger = useCases.ledger
    }

    package func answer(_ request: borrowing Request) -> Answer {
        let started = monotonicMicroseconds()
        let found: (route: ServedRoute, arguments: [String]?)
        do throws(Problem) {
            found = try find(request)
        } catch {
            return .now(unrouted.record(surfaces.refusal(error, at: request.path), since: started))
        }
        do throws(Problem) {
            return try answer(request, at: found.route, found.arguments, since: started)
        } catch {
            return .now(found.route.end(.failure(error), since: started))
        }
    }

    private func answer(
        _ request: borrowing Request, at found: ServedRoute, _ arguments: [String]?,
        since started: Int64
    ) throws(Problem) -> Answer {
        switch found.route.callers {
        case .anyone(let receive):
            let (room, reaction) = try receive(
                try OpenCall(request, arguments, for: found.route))
            return answer(by: reaction, in: room, found, since: started)
        case .keys(let roles, let work):
            let key = try found.door.key(of: request)
            let draft = try CallDraft(request, arguments, for: found.route)
            if found.route.cost == .memory, let known = key.known {
                found.door.note(key, at: started)
                let reaction = try found.react(to: draft, by: known, roles, work)
                return answer(by: reaction, in: .known, found, since: started)
            }
            let client = key.known == nil ? request.client : nil
            if key.known == nil { try failedKeys.requirePatience(with: client) }
            let waiting = Reaction.waiting { [failedKeys] () throws(Problem) in
                let live = try found.door.find(key, failedKeys, from: client)
                found.door.ring.uses.note(live, at: found.door.ring.now)
                return try found.react(to: draft, by: live, roles, work)
            }
            return answer(by: waiting, in: key.room, found, since: started)
        }
    }

    private func answer(
        by reaction: Reaction, in room: Room, _ found: ServedRoute, since started: Int64
    ) -> Answer {
        switch reaction {
        case .answered(let result): return .now(found.end(result, since: started))
        case .waiting(let work):
            // A commit waits for announced work. Strangers' requests rarely lead to a commit, so
            // they are not announced.
            let isLikely = found.route.cost == .evidence && room != .strangers
            let announcement = isLikely ? Announcement(to: ledger) : nil
            return .eventually(in: room) { [ledger] reply in
                let reaction = Reaction(after: work)
                announcement?.end()
                reaction.perform(isPatient: true, ledger, reply) {
                    reply(found.end($0, since: started))
                }
            }
        case .asking, .writing:
            return .underway { [ledger] reply in
                reaction.perform(isPatient: false, ledger, reply) {
                    reply(found.end($0, since: started))
                }
            }
        }
    }

    /// Returns the answer to a request that the server refuses before it reaches a route.
    package func refuse(_ refusal: ServerRefusal, at path: String) -> Response {
        surfaces.refusal(Problem(refusal), at: path)
    }

    func find(
        _ request: borrowing Request
    ) throws(Problem) -> (route: ServedRoute, arguments: [String]?) {
        var place: RouteTable<ServedRoute>.Place?
        request.withPath { place = routes.find($0) }
        return try end(of: place, for: request.method)
    }

    private func end(
        of place: RouteTable<ServedRoute>.Place?, for method: String
    ) throws(Problem) -> (route: ServedRoute, arguments: [String]?) {
        guard let place else { throw .unknownRoute }
        for end in place.ends where end.method == method { return (end.found, place.arguments) }
        throw .wrongMethod(allowed: place.ends.map(\.method))
    }
}

extension Server {
    /// Creates a server that answers requests through the router.
    package convenience init(
        _ settings: ServerSettings, metrics: Metrics, _ router: Router
    ) throws(ServerError) {
        try self.init(
            settings, metrics: metrics, admit: { router.admit($0) },
            refusal: { router.refuse($0, at: $1) }, handler: { router.answer($0) })
    }
}

/// A route, as served by its surface.
final class ServedRoute: Sendable {
    let route: Route
    let door: KeyDoor
    /// The route's method and complete pattern.
    let name: String
    private let refusal: @Sendable (Problem) -> Response
    private let measures: RouteMeasures

    init(
        _ name: String, route: Route, door: KeyDoor,
        refusal: @escaping @Sendable (Problem) -> Response,
        measures: RouteMeasures
    ) {
        self.name = name
        self.route = route
        self.door = door
        self.refusal = refusal
        self.measures = measures
    }

    /// Returns a call's final response, in its surface's wording.
    func end(_ result: consuming Result<Response, Problem>, since started: Int64) -> Response {
        switch consume result {
        case .success(let response): measures.record(response, since: started)
        case .failure(let problem): measures.record(refusal(problem), since: started)
        }
    }
}

/// A request that is detached from its connection, and whose key is still to be checked.
struct CallDraft: Sendable {
    let arguments: [String]?
    let query: String?
    /// The parameters that the call accepts.
    let parameters: [String]
    let subject: Route.Subject
    let isRead: Bool
    let body: [UInt8]
    let idempotencyKey: String?
    let after: String?
    let knownTags: String?

    init(
        _ request: borrowing Request, _ arguments: [String]?, for route: Route
    ) throws(Problem) {
        let idempotencyKey = try request.single(.idempotencyKey, for: route)
        let after = try request.single(.after, for: route)
        let knownTags = try request.single(.knownTags, for: route)
        self.arguments = arguments
        query = request.query
        parameters = route.parameters
        subject = route.subject
        isRead = request.isGet
        body = request.body
        self.idempotencyKey = idempotencyKey
        self.after = after
        self.knownTags = knownTags
    }

    func position() throws(Problem) -> Position? {
        guard let after else { return nil }
        guard let position = Position(after) else {
            let name = "\(RequestHeader.after.name)"
            throw .invalid(
                name, "\"\(name)\" must be a position from the header \"Deed-Position\".")
        }
        return position
    }

    func validIdempotencyKey() throws(Problem) -> String? {
        guard let idempotencyKey else { return nil }
        let limit = Sender.idempotencyKeyLimit
        guard idempotencyKey.utf8.count <= limit,
            (try? Identifier<Void>(idempotencyKey)) != nil
        else {
            let name = "\(RequestHeader.idempotencyKey.name)"
            throw .invalid(
                name, "\"\(name)\" must be 1 to \(limit) bytes of printable UTF-8.")
        }
        return idempotencyKey
    }
}

extension Call {
    init(_ draft: consuming CallDraft, _ access: Route.Access) throws(Problem) {
        guard let arguments = draft.arguments else { throw .malformedPath }
        let query = try QueryParameters(draft.query, of: draft.parameters)
        let idempotencyKey = try draft.validIdempotencyKey()
        self.init(
            access: access, arguments: arguments, query: query, body: draft.body,
            idempotencyKey: idempotencyKey, after: try draft.position(),
            knownTags: draft.knownTags)
        try requireEnvironment(draft.subject, isRead: draft.isRead)
    }
}

extension Request {
    /// Returns the header's value if the route reads the header.
    func single(_ header: RequestHeader, for route: Route) throws(Problem) -> String? {
        route.headers.contains(header) ? try single(header.name) : nil
    }

    /// Returns the header's only value. Throws if the header occurs twice, because using the wrong value could lose a
    /// write.
    func single(_ name: StaticString) throws(Problem) -> String? {
        do throws(HeaderError) {
            return try header(name)
        } catch {
            switch error {
            case .repeated:
                throw .invalid("\(name)", "\"\(name)\" is sent twice; send it once.")
            case .notUTF8: throw .invalid("\(name)", "\"\(name)\" must be printable UTF-8.")
            }
        }
    }
}

/// The routes by path. The time that a search takes depends on the length of the path, not on the
/// number of routes.
struct RouteTable<Found: Sendable>: Sendable {
    private struct Node: Sendable {
        /// The literal parts. Comparing these few strings is faster than a dictionary lookup.
        var texts: [(text: [UInt8], node: Int)] = []
        var argument: Int?
        /// The node for a pattern that matches the rest of the path.
        var tail: Int?
        /// The routes that end here, by method.
        var ends: [(method: String, found: Found)] = []
    }
    private var nodes = [Node()]

    /// The result of following a path.
    struct Place {
        let ends: [(method: String, found: Found)]
        /// The arguments in the path; `nil` if an argument is not validly encoded.
        let arguments: [String]?
    }

    mutating func add(_ found: Found, method: String, pattern: String) {
        var at = 0
        for part in pattern.dropFirst().split(separator: "/") {
            if part.hasSuffix("*}") {
                at = node(\.tail, below: at)
            } else if part.hasPrefix("{") {
                at = node(\.argument, below: at)
            } else {
                at = text(Array(part.utf8), below: at)
            }
        }
        nodes[at].ends.append((method, found))
    }

    private mutating func node(_ kind: WritableKeyPath<Node, Int?>, below parent: Int) -> Int {
        if let node = nodes[parent][keyPath: kind] { return node }
        nodes.append(Node())
        nodes[parent][keyPath: kind] = nodes.count - 1
        return nodes.count - 1
    }

    private mutating func text(_ text: [UInt8], below parent: Int) -> Int {
        for known in nodes[parent].texts where known.text == text { return known.node }
        nodes.append(Node())
        nodes[parent].texts.append((text, nodes.count - 1))
        return nodes.count - 1
    }

    /// Follows a path to its routes; `nil` if it has none. A literal part takes precedence over an
    /// argument, and an argument over a pattern for the rest of the path.
    func find(_ path: Span<UInt8>) -> Place? {
        guard path.count > 0, path[0] == UInt8(ascii: "/") else { return nil }
        var arguments: [String]? = []
        guard let end = walk(path, from: 1, at: 0, &arguments) else { return nil }
        arguments?.reverse()
        return Place(ends: nodes[end].ends, arguments: arguments)
    }

    /// Follows the path from `start` and a node. Collects the arguments on the way back, last one first, because only
    /// then is it clear which parts are arguments.
    private func walk(
        _ path: Span<UInt8>, from start: Int, at node: Int, _ arguments: inout [String]?
    ) -> Int? {
        var end = start
        while end < path.count, path[end] != UInt8(ascii: "/") { end += 1 }
        // Iterates by index, because copying the entries would cost reference counting.
        for place in nodes[node].texts.indices
        where path.holds(nodes[node].texts[place].text, in: start..<end) {
            let next = nodes[node].texts[place].node
            if let found = finish(path, after: end, at: next, &arguments) { return found }
        }
        if let next = nodes[node].argument,
            let found = finish(path, after: end, at: next, &arguments)
        {
            take(path.extracting(start..<end), into: &arguments)
            return found
        }
        guard let next = nodes[node].tail else { return nil }
        take(path.extracting(start..<path.count), into: &arguments)
        return next
    }

    private func take(_ argument: Span<UInt8>, into arguments: inout [String]?) {
        if let text = percentDecoded(argument) {
            arguments?.append(text)
        } else {
            arguments = nil
        }
    }

    private func finish(
        _ path: Span<UInt8>, after end: Int, at node: Int, _ arguments: inout [String]?
    ) -> Int? {
        if end == path.count { return nodes[node].ends.isEmpty ? nil : node }
        return walk(path, from: end + 1, at: node, &arguments)
    }
}

extension Span<UInt8> {
    fileprivate func holds(_ text: [UInt8], in range: Range<Int>) -> Bool {
        guard text.count == range.count else { return false }
        for offset in text.indices where self[range.lowerBound + offset] != text[offset] {
            return false
        }
        return true
    }
}
