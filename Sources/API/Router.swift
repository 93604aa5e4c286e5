package import Answers
import Core
package import HTTPServer
package import Service
import Telemetry
import Threading

/// From a request to its answer: route, method, key, role, and then the route's own work.
package struct Router: Sendable {
    /// The longest body of calls that do not need a longer one.
    package static let bodyLimit = 64 << 10

    /// Every call that it answers.
    package let outlines: [RouteOutline]
    private let routes: RouteTable<MeasuredRoute>
    let unrouted: RouteMeasures
    let keys: KeyRing
    let failedKeys: FailedKeys
    private let submit: Submit
    private let announce: @Sendable () -> Announcement

    package init(
        _ ports: Ports, _ reads: CustomerReads, _ submissions: Submissions, keys: KeyRing,
        operations: Operations
    ) {
        let submitting = SubmissionRoutes(
            submissions, measures: NotificationMeasures(operations.metrics))
        let all =
            ReadRoutes(ports: ports, reads: reads).routes + QueryRoutes(reads).routes
            + CustomerRoutes(ports).routes
            + CatalogRoutes(ports).routes
            + SettingsRoutes(ports, apps: submissions.apps).routes
            + OrderRoutes(ports: ports, reads: reads).routes
            + BalanceRoutes(ports).routes + MoveRoutes(ports).routes + UnclaimedRoutes(ports).routes
            + RefundRoutes(ports).routes
            + submitting.routes
            + IntakeRoutes(ports).routes + ReconciliationRoutes(ports).routes
            + ClockRoutes(clock: operations.testClock).routes
            + operations.routes
        var table = RouteTable<MeasuredRoute>()
        for route in all {
            let measures = RouteMeasures(
                operations.metrics, route: route.pattern, method: route.method)
            table.add(
                MeasuredRoute(route: route, measures: measures), method: route.method,
                pattern: route.pattern)
        }
        outlines = all.map(RouteOutline.init)
        routes = table
        unrouted = RouteMeasures(operations.metrics, route: "none", method: "any")
        self.keys = keys
        failedKeys = FailedKeys(operations, now: ports.machineClock)
        submit = ports.ledger.submit
        announce = ports.ledger.announce
    }

    package func answer(_ request: borrowing Request) -> Answer {
        let started = monotonicMicroseconds()
        let found: (route: MeasuredRoute, arguments: [String]?)
        do throws(Problem) {
            found = try find(request)
        } catch {
            return .now(unrouted.record(error.response, since: started))
        }
        do throws(Problem) {
            switch found.route.route.callers {
            case .anyone(let receive):
                let (room, reaction) = try receive(request.body, request.client)
                return answer(by: reaction, in: room, found.route, since: started)
            case .keys(let roles, let work):
                let key = try PresentedKey(request, keys)
                let draft = try CallDraft(
                    request, found.arguments, of: found.route.route.parameters)
                if found.route.route.cost == .memory, let used = key.known {
                    let call = try Call(draft, try Route.Access(used.key, roles))
                    return answer(by: try work(call), in: .known, found.route, since: started)
                }
                let client = key.known == nil ? request.client : nil
                if key.known == nil { try failedKeys.requirePatience(with: client) }
                let reaction = Reaction.waiting { [keys, failedKeys] () throws(Problem) in
                    let live = try key.find(in: keys, failedKeys, from: client)
                    return try work(try Call(draft, try Route.Access(live, roles)))
                }
                return answer(by: reaction, in: key.room, found.route, since: started)
            }
        } catch {
            return .now(found.route.measures.record(error.response, since: started))
        }
    }

    private func answer(
        by reaction: Reaction, in room: Room, _ found: MeasuredRoute, since started: Int64
    ) -> Answer {
        switch reaction {
        case .answered(let response): return .now(found.measures.record(response, since: started))
        case .waiting(let work):
            // Commits wait for what is announced, and of what strangers send hardly any comes to one.
            let isLikely = found.route.cost == .evidence && room != .strangers
            let announcement = isLikely ? announce() : nil
            return .eventually(in: room) { [submit] reply in
                let reaction = Reaction(after: work)
                announcement?.end()
                reaction.perform(isPatient: true, submit, reply) {
                    reply(found.measures.record($0, since: started))
                }
            }
        case .asking, .writing:
            return .underway { reply in
                reaction.perform(isPatient: false, submit, reply) {
                    reply(found.measures.record($0, since: started))
                }
            }
        }
    }

    /// The longest body that a request may have.
    package func bodyLimit(method: String, path: String) -> Int {
        do throws(Problem) {
            return try end(of: routes.find(path.utf8.span), for: method).route.route.bodyLimit
        } catch {
            return Router.bodyLimit
        }
    }

    func find(
        _ request: borrowing Request
    ) throws(Problem) -> (route: MeasuredRoute, arguments: [String]?) {
        var place: RouteTable<MeasuredRoute>.Place?
        request.withPath { place = routes.find($0) }
        return try end(of: place, for: request.method)
    }

    private func end(
        of place: RouteTable<MeasuredRoute>.Place?, for method: String
    ) throws(Problem) -> (route: MeasuredRoute, arguments: [String]?) {
        guard let place else { throw .unknownRoute }
        for end in place.ends where end.method == method { return (end.found, place.arguments) }
        throw .wrongMethod(allowed: place.ends.map(\.method))
    }
}

final class MeasuredRoute: Sendable {
    let route: Route
    let measures: RouteMeasures

    init(route: Route, measures: RouteMeasures) {
        self.route = route
        self.measures = measures
    }
}

/// A request as it was taken out of its connection, before anybody looked whether it may be.
private struct CallDraft: Sendable {
    let arguments: [String]?
    let query: String?
    /// Those that the call takes.
    let parameters: [String]
    let body: [UInt8]
    let idempotencyKey: String?
    let after: String?
    let knownTags: String?

    init(
        _ request: borrowing Request, _ arguments: [String]?, of parameters: [String]
    ) throws(Problem) {
        // No read looks at it.
        let idempotencyKey = request.isGet ? nil : try request.single("Idempotency-Key")
        let after = try request.single("Deed-After")
        let knownTags = try request.single("If-None-Match")
        self.arguments = arguments
        query = request.query
        self.parameters = parameters
        body = request.body
        self.idempotencyKey = idempotencyKey
        self.after = after
        self.knownTags = knownTags
    }

    func position() throws(Problem) -> Position? {
        guard let after else { return nil }
        guard let position = Position(after) else {
            throw .invalid(
                "Deed-After", "\"Deed-After\" takes a position as \"Deed-Position\" gives it.")
        }
        return position
    }

    func validIdempotencyKey() throws(Problem) -> String? {
        guard let idempotencyKey else { return nil }
        let limit = Sender.idempotencyKeyLimit
        guard idempotencyKey.utf8.count <= limit,
            (try? Identifier<Void>(idempotencyKey)) != nil
        else {
            throw .invalid(
                "Idempotency-Key",
                "\"Idempotency-Key\" takes 1 to \(limit) bytes of printable UTF-8.")
        }
        return idempotencyKey
    }
}

extension Call {
    fileprivate init(_ draft: CallDraft, _ access: Route.Access) throws(Problem) {
        guard let arguments = draft.arguments else {
            throw .invalid("path", "The path is not validly percent-encoded UTF-8.")
        }
        let query = try QueryParameters(draft.query, of: draft.parameters)
        let idempotencyKey = try draft.validIdempotencyKey()
        self.init(
            access: access, arguments: arguments, query: query, body: draft.body,
            idempotencyKey: idempotencyKey, after: try draft.position(),
            knownTags: draft.knownTags)
    }
}

extension PresentedKey {
    /// Who may turn out to have no key waits with those who have none.
    fileprivate var room: Room { known == nil ? .strangers : .known }

    /// The key as it is now, after a look into the database where memory does not know it any more: the
    /// call may have waited for a worker, and its key been revoked meanwhile.
    fileprivate func find(
        in keys: KeyRing, _ failed: FailedKeys, from client: ClientAddress?
    ) throws(Problem) -> LiveKey {
        let found: LiveKey?
        do throws(Fault) {
            found =
                switch self {
                case .known(let used): try keys.find(used)
                case .other(let digest): try keys.find(digest)
                }
        } catch {
            throw Problem(error)
        }
        guard let found else {
            failed.note(from: client)
            throw .unknownKey
        }
        return found
    }
}

extension Request {
    /// The header's one value: to guess which of two is meant could swallow a write.
    func single(_ name: StaticString) throws(Problem) -> String? {
        do throws(HeaderError) {
            return try header(name)
        } catch {
            switch error {
            case .repeated:
                throw .invalid("\(name)", "\"\(name)\" is sent twice; send it once.")
            case .notUTF8: throw .invalid("\(name)", "\"\(name)\" takes printable UTF-8.")
            }
        }
    }
}
