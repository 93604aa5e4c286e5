package import Answers
package import Core
package import Feed
import HTTPServer
package import JSON
package import Service
import Threading

/// A person who makes calls with a role. The calls have the rights of a key with that role.
package struct PersonCaller: Hashable, Sendable {
    package let person: PersonID
    package let project: ProjectID
    package let role: Role

    package init(person: PersonID, project: ProjectID, role: Role) {
        self.person = person
        self.project = project
        self.role = role
    }

    fileprivate var access: Route.Access {
        // The person has the same rights as a key with this role and without limits.
        let rights = LiveKey(
            digest: [], project: project, key: KeyID(prefix: "", random: person.text), role: role)
        return Route.Access(key: rights, person: person)
    }
}

/// A call that the service makes to itself.
package struct InnerCall: Sendable {
    package let method: String
    /// The path, percent-encoded, for example `/customers/u1/grants`.
    package let path: String
    /// The query, percent-encoded.
    package var query: String
    package var body: JSON?
    package var idempotencyKey: String?

    package init(
        _ method: String, _ path: String, query: String = "", body: JSON? = nil,
        idempotencyKey: String? = nil
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.body = body
        self.idempotencyKey = idempotencyKey
    }
}

/// The `/v1` calls that people who are signed in can make, and some calls that only pages need. Pages show the calls'
/// answers, so pages and API always agree.
package struct InnerCalls: Sendable {
    private let routes: RouteTable<Route>
    private let ledger: any EventLog
    private let refusals: RefusedCalls

    package init(
        _ useCases: UseCases, _ reads: CustomerReads, _ submissions: Submissions, feed: Feed,
        keys: KeyRing, operations: Operations
    ) {
        var table = RouteTable<Route>()
        let own: [[Route]] = [
            LookRoutes(customers: useCases.customers).routes,
            IntakeListRoutes(intake: submissions.intake).routes,
            FigureRoutes(figures: useCases.figures).routes,
            EvidenceRoutes(proofs: useCases.proofs).routes,
            CatalogChangeRoutes(catalogs: useCases.catalogs).routes,
            KeyActRoutes(lists: useCases.keyLists, projects: useCases.projects).routes,
        ]
        for route in Surface.v1(useCases, reads, submissions, feed, keys, operations).routes
            + own.joined()
        {
            table.add(route, method: route.method, pattern: route.pattern)
        }
        routes = table
        ledger = useCases.ledger
        refusals = keys.refusals
    }

    /// Makes the call, waits for the answer, and returns its JSON. Records a refusal in the trail,
    /// like a refusal of a person's key.
    package func send(
        _ call: InnerCall, by caller: PersonCaller
    ) throws(Problem) -> JSON {
        let answer = try response(to: call, by: caller)
        do {
            return try JSON.read(answer.body)
        } catch {
            throw Problem(Fault.broken("a call's answer is not JSON: \(error)"))
        }
    }

    /// Makes a call whose answer is a file, and returns the file's bytes.
    package func file(
        _ call: InnerCall, by caller: PersonCaller
    ) throws(Problem) -> [UInt8] {
        try response(to: call, by: caller).body
    }

    private func response(
        to call: InnerCall, by caller: PersonCaller
    ) throws(Problem) -> Response {
        let headers = call.idempotencyKey.map { [("Idempotency-Key", $0)] } ?? []
        let request = Request(
            method: call.method, path: call.path, query: call.query.isEmpty ? nil : call.query,
            headers: headers, body: call.body?.bytes ?? [])
        let (route, arguments) = try find(request)
        guard case .keys(let roles, let work) = route.callers else { throw .unknownRoute }
        let draft = try CallDraft(request, arguments, for: route)
        do throws(Problem) {
            guard roles.contains(caller.role) else {
                throw .wrongRole(needed: roles, held: caller.role)
            }
            let made = try Call(draft, caller.access)
            return try work(made).awaited(ledger)
        } catch {
            note(error, draft, route, caller)
            throw error
        }
    }

    package func allows(_ method: String, _ path: String, to role: Role) -> Bool {
        let found = try? find(Request(method: method, path: path))
        return found?.route.roles?.contains(role) ?? false
    }

    private func find(
        _ request: borrowing Request
    ) throws(Problem) -> (route: Route, arguments: [String]?) {
        var place: RouteTable<Route>.Place?
        request.withPath { place = routes.find($0) }
        let method = request.method
        guard let place, let end = place.ends.first(where: { $0.method == method }) else {
            throw .unknownRoute
        }
        return (end.found, place.arguments)
    }

    private func note(
        _ problem: Problem, _ draft: CallDraft, _ route: Route, _ caller: PersonCaller
    ) {
        let key = caller.access.key
        guard refusals.keeps(key), (400..<500).contains(problem.status) else { return }
        let name = "\(route.method) /v1\(route.pattern)"
        refusals.note(key, name, status: problem.status, code: problem.code) {
            $0.complete(from: draft, "\(route.pattern)")
        }
    }
}

extension Reaction {
    /// Returns the final response. Blocks this thread until the response is available.
    fileprivate func awaited(_ ledger: any EventLog) throws(Problem) -> Response {
        var reaction = self
        while true {
            switch reaction {
            case .answered(let result): return try result.get()
            case .waiting(let work): reaction = try work()
            case .writing(let wish): return try obey(ledger.perform(wish))
            case .asking(let begin):
                let given = Monitor<Result<Response, Problem>?>(nil)
                begin { result in given.change { $0 = result } }
                return try given.wait { $0 }.get()
            }
        }
    }
}
