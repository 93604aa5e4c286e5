import Core
import HTTPServer
import JSON
import Service

/// The calls that read a customer.
struct ReadRoutes: Sendable {
    private static let pageLimit: Int64 = 1000
    private let reads: CustomerReads
    private var ports: Ports { reads.ports }

    init(_ reads: CustomerReads) {
        self.reads = reads
    }

    var routes: [Route] {
        let customer = "/v1/customers/{customer}"
        return [
            Route(
                "GET", "\(customer)/entitlements", parameters: Question.names,
                .remembered(.reader, rememberedEntitlements, askEntitlements, entitlements)),
            Route(
                "GET", "\(customer)/entitlements/{entitlement}", parameters: Question.names,
                .remembered(.reader, rememberedEntitlement, askEntitlement, entitlement)),
            Route("GET", customer, parameters: Question.names, .keyed(.reader, wholeCustomer)),
            Route(
                "GET", "\(customer)/explain", parameters: Question.names + ["entitlement"],
                .keyed(.reader, explain)),
            Route(
                "GET", "\(customer)/balances", parameters: ["environment"],
                .keyed(.reader, balances)),
            Route(
                "GET", "\(customer)/events", parameters: QueryParameters.page,
                .keyed(.reader, events)),
        ]
    }

    // MARK: Entitlements

    private func rememberedEntitlements(_ call: Call) throws(Problem) -> Response? {
        try remembered(call)?.response(of: call)
    }

    private func askEntitlements(_ call: Call) throws(Problem) -> Route.Asking? {
        try ask(call) { $0.response(of: call) }
    }

    private func entitlements(_ call: Call) throws(Problem) -> Response {
        let question = try Question(call)
        if question.isOfNow { return try read(call, question).response(of: call) }
        return try derive(call, question).response(of: call)
    }

    private func rememberedEntitlement(_ call: Call) throws(Problem) -> Response? {
        let id = try EntitlementID(member: "entitlement", call.arguments[1])
        return try remembered(call)?.response(of: call, id)
    }

    private func askEntitlement(_ call: Call) throws(Problem) -> Route.Asking? {
        let id = try EntitlementID(member: "entitlement", call.arguments[1])
        return try ask(call) { $0.response(of: call, id) }
    }

    private func entitlement(_ call: Call) throws(Problem) -> Response {
        let id = try EntitlementID(member: "entitlement", call.arguments[1])
        let question = try Question(call)
        if question.isOfNow { return try read(call, question).response(of: call, id) }
        return try derive(call, question).response(of: call, id)
    }

    /// The answer from memory, for those who ask for nothing special.
    private func remembered(_ call: Call) throws(Problem) -> FilledAnswer? {
        guard call.query.isEmpty || call.query.isOnly("environment") else { return nil }
        return reads.remembered(try call.stream(), after: call.after)
    }

    /// The way to ask for the answer of now, as far as that takes nothing but the customer.
    private func ask(
        _ call: Call, _ respond: @escaping @Sendable (FilledAnswer) -> Response
    ) throws(Problem) -> Route.Asking? {
        let question = try Question(call)
        let stream = try call.stream()
        guard question.isOfNow, call.after == nil || call.after?.shard == stream.shard else {
            return nil
        }
        return { [reads] give in
            reads.read(stream, after: call.after, isStrong: question.isStrong) { result in
                switch result {
                case .success(let answer): give(respond(answer))
                case .failure(let error): give(Problem(error).response)
                }
            }
        }
    }

    private func read(_ call: Call, _ question: Question) throws(Problem) -> FilledAnswer {
        let stream = try call.stream()
        do throws(ReadError) {
            return try reads.read(stream, after: call.after, isStrong: question.isStrong)
        } catch {
            throw Problem(error)
        }
    }

    /// The answer of another instant, or as it was known at one.
    private func derive(_ call: Call, _ question: Question) throws(Problem) -> FilledAnswer {
        let stream = try call.stream()
        let answer = try ask { () throws(Fault) in
            try ports.entitlements(of: stream, at: question.at, known: question.known)
        }
        try reads.demand(call.after, within: answer.position)
        return FilledAnswer(answer.ready, at: answer.entitlements.at, answer.position)
    }

    // MARK: The rest, from the database

    private func wholeCustomer(_ call: Call) throws(Problem) -> Response {
        let stream = try call.stream()
        let question = try Question(call)
        let answer = try ask { () throws(Fault) in
            try ports.customer(stream, at: question.at, known: question.known)
        }
        try reads.demand(call.after, within: answer.view.position)
        return .json(answer.json, position: answer.view.position)
    }

    private func explain(_ call: Call) throws(Problem) -> Response {
        let stream = try call.stream()
        guard let text = call.query["entitlement"] else {
            throw .missing("entitlement", "Name the entitlement to explain: ?entitlement=…")
        }
        let entitlement = try EntitlementID(member: "entitlement", text)
        let question = try Question(call)
        let answer = try ask { () throws(Fault) in
            try ports.explanation(
                of: entitlement, for: stream, at: question.at, known: question.known)
        }
        try reads.demand(call.after, within: answer.position)
        return .json(answer.json, position: answer.position)
    }

    private func balances(_ call: Call) throws(Problem) -> Response {
        let stream = try call.stream()
        let answer = try ask { () throws(Fault) in try ports.balances(of: stream) }
        try reads.demand(call.after, within: answer.position)
        return .json(answer.json, position: answer.position)
    }

    private func events(_ call: Call) throws(Problem) -> Response {
        let stream = try call.stream()
        let after = try call.query.integer("after", in: 0...Int64.max, default: 0)
        let limit = try call.query.integer("limit", in: 1...ReadRoutes.pageLimit, default: 100)
        let answer = try ask { () throws(Fault) in
            try ports.events(of: stream, after: after, limit: Int(limit))
        }
        try reads.demand(call.after, within: answer.position)
        return .json(answer.json, position: answer.position)
    }

    private func ask<Answer>(_ body: () throws(Fault) -> Answer) throws(Problem) -> Answer {
        do throws(Fault) {
            return try body()
        } catch {
            throw Problem(error)
        }
    }
}

extension CustomerReads {
    /// The same as a problem, for routes.
    func demand(_ after: Position?, within position: Position?) throws(Problem) {
        do throws(ReadError) {
            try require(after, within: position)
        } catch {
            throw Problem(error)
        }
    }
}

/// What a reader asks for beside the customer.
private struct Question {
    static let names = ["at", "known", "environment", "consistency"]

    let at: Instant?
    let known: Instant?
    let isStrong: Bool

    init(_ call: Call) throws(Problem) {
        if let consistency = call.query["consistency"], consistency != "strong" {
            throw .invalid("consistency", "The parameter \"consistency\" takes \"strong\" only.")
        }
        isStrong = call.query["consistency"] != nil
        at = try call.query.instant("at")
        known = try call.query.instant("known")
    }

    var isOfNow: Bool { at == nil && known == nil }
}

extension FilledAnswer {
    fileprivate func response(of call: Call) -> Response {
        response(to: call) { ready.body(at: at, $0) }
    }

    fileprivate func response(of call: Call, _ entitlement: EntitlementID) -> Response {
        response(to: call) { ready.body(of: entitlement, at: at, $0) }
    }
}

extension Problem {
    init(_ error: ReadError) {
        switch error {
        case .fault(let fault): self.init(fault)
        case .notReached(let position, let head):
            self = .busy(
                "The log ends at \(head) and does not reach \(position): send a position that "
                    + "Deed gave. After a failover, one that was given before may be lost.",
                code: "position_not_reached")
        }
    }
}
