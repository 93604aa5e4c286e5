import Answers
import Core
import HTTPServer
import JSON
import Service

/// The calls that read a customer.
struct ReadRoutes: Sendable {
    let ports: Ports
    let reads: CustomerReads

    var routes: [Route] {
        let customer = "/customers/{customer}"
        return [
            Route(
                "GET", "\(customer)/entitlements", parameters: ReadQuestion.names,
                headers: [.after, .knownTags], .read, .memory, entitlements),
            Route(
                "GET", "\(customer)/entitlements/{entitlement}", parameters: ReadQuestion.names,
                headers: [.after, .knownTags], .read, .memory, entitlement),
            Route(
                "GET", customer, parameters: ReadQuestion.names, headers: [.after], .read,
                .database,
                wholeCustomer),
            Route(
                "GET", "\(customer)/explain", parameters: ReadQuestion.names + ["entitlement"],
                headers: [.after], .read, .database, explain),
            Route(
                "GET", "\(customer)/balances", parameters: ["environment"], headers: [.after],
                .read,
                .database, balances),
            Route(
                "GET", "\(customer)/events", parameters: QueryParameters.page, headers: [.after],
                .read,
                .database, events),
        ]
    }

    // MARK: Entitlements

    private func entitlements(_ call: Call) throws(Problem) -> Reaction { try read(call, nil) }

    private func entitlement(_ call: Call) throws(Problem) -> Reaction {
        try read(call, try EntitlementID(member: "entitlement", call.arguments[1]))
    }

    private func read(_ call: Call, _ entitlement: EntitlementID?) throws(Problem) -> Reaction {
        let question = try ReadQuestion(call.query)
        let stream = try call.stream()
        // Taken out of the call: what waits would keep all of it.
        let (after, wanted) = (call.after, WantedAnswer(entitlement, knownTags: call.knownTags))
        guard question.isOfNow else {
            return .waiting { () throws(Problem) in
                try derive(stream, question, after).response(to: wanted).reaction
            }
        }
        if !question.isStrong, let answer = reads.remembered(stream, after: after) {
            return .answered(.success(answer.response(to: wanted)))
        }
        // Whether the log reaches a place in another shard may have to be asked for first.
        if let after, after.shard != stream.shard {
            return .waiting { () throws(Problem) in
                try reads.demand(after, within: nil)
                return reading(stream, after: nil, question, wanted)
            }
        }
        return reading(stream, after: after, question, wanted)
    }

    private func reading(
        _ stream: Stream, after: Position?, _ question: ReadQuestion, _ wanted: WantedAnswer
    ) -> Reaction {
        .asking { [reads] give in
            reads.read(stream, after: after, isStrong: question.isStrong) {
                give($0.map { $0.response(to: wanted) }.mapError { Problem($0) })
            }
        }
    }

    /// The answer of another instant, or as it was known at one.
    private func derive(
        _ stream: Stream, _ question: ReadQuestion, _ after: Position?
    ) throws(Problem) -> FilledAnswer {
        let answer = try ask(ports.entitlements(of: stream, at: question.at, known: question.known))
        try reads.demand(after, within: answer.position)
        return FilledAnswer(answer.ready, at: answer.entitlements.at, answer.position)
    }

    // MARK: The rest, from the database

    private func wholeCustomer(_ call: Call) throws(Problem) -> Response {
        let stream = try call.stream()
        let question = try ReadQuestion(call.query)
        let answer = try ask(ports.customer(stream, at: question.at, known: question.known))
        try reads.demand(call.after, within: answer.view.position)
        return .json(answer.json, position: answer.view.position)
    }

    private func explain(_ call: Call) throws(Problem) -> Response {
        let stream = try call.stream()
        guard let text = call.query["entitlement"] else {
            throw .missing("entitlement", "Name the entitlement to explain: ?entitlement=…")
        }
        let entitlement = try EntitlementID(member: "entitlement", text)
        let question = try ReadQuestion(call.query)
        let answer = try ask(
            ports.explanation(
                of: entitlement, for: stream, at: question.at, known: question.known))
        try reads.demand(call.after, within: answer.position)
        return .json(answer.json, position: answer.position)
    }

    private func balances(_ call: Call) throws(Problem) -> Response {
        let stream = try call.stream()
        let answer = try ask(ports.balances(of: stream))
        try reads.demand(call.after, within: answer.position)
        return .json(answer.json, position: answer.position)
    }

    private func events(_ call: Call) throws(Problem) -> Response {
        let stream = try call.stream()
        let after = try call.query.integer("after", in: 0...Int64.max, default: 0)
        let limit = try call.query.pageSize()
        let answer = try ask(ports.events(of: stream, after: after, limit: limit))
        try reads.demand(call.after, within: answer.position)
        return .json(answer.json, position: answer.position)
    }
}

extension CustomerReads {
    /// The same as a problem, for routes.
    func demand(_ after: Position?, within position: Position?) throws(Problem) {
        try rethrowing(as: Problem.init) { () throws(ReadError) in
            try require(after, within: position)
        }
    }
}

/// What a reader asks for in addition to the customer.
private struct ReadQuestion {
    static let names = ["at", "known", "environment", "consistency"]

    let at: Instant?
    let known: Instant?
    let isStrong: Bool

    init(_ query: QueryParameters) throws(Problem) {
        let consistency = query["consistency"]
        if let consistency, consistency != "strong" {
            throw .invalid("consistency", "The parameter \"consistency\" takes \"strong\" only.")
        }
        isStrong = consistency != nil
        at = try query.instant("at")
        known = try query.instant("known")
    }

    var isOfNow: Bool { at == nil && known == nil }
}

extension Problem {
    init(_ error: ReadError) {
        switch error {
        case .fault(let fault): self.init(fault)
        case .notReached(let position, let head):
            self = .busy(
                "The log ends at \(head) and does not reach \(position): send a position that "
                    + "Deed gave. After a failover, a position from before may be lost.",
                code: "position_not_reached")
        }
    }
}
