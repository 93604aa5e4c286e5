import Answers
import Core
import HTTPServer
import JSON
import Service

/// Calls that read data about a customer.
struct ReadRoutes: Sendable {
    let customers: Customers
    let reads: CustomerReads

    var routes: [Route] {
        let customer = "/customers/{customer}"
        return [
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

    private func wholeCustomer(_ call: Call) throws(Problem) -> Response {
        let stream = try call.stream()
        let question = try ReadQuestion(call.query)
        try customers.reading.certain()
        let answer = try ask(customers.customer(stream, at: question.at, known: question.known))
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
        try customers.reading.certain()
        let answer = try ask(
            customers.explanation(
                of: entitlement, for: stream, at: question.at, known: question.known))
        try reads.demand(call.after, within: answer.position)
        return .json(answer.json, position: answer.position)
    }

    private func balances(_ call: Call) throws(Problem) -> Response {
        let stream = try call.stream()
        try customers.reading.certain()
        let answer = try ask(customers.balances(of: stream))
        try reads.demand(call.after, within: answer.position)
        return .json(answer.json, position: answer.position)
    }

    private func events(_ call: Call) throws(Problem) -> Response {
        let stream = try call.stream()
        let after = try call.query.integer("after", in: 0...Int64.max, default: 0)
        let limit = try call.query.pageSize()
        try customers.reading.certain()
        let answer = try ask(customers.events(of: stream, after: after, limit: limit))
        try reads.demand(call.after, within: answer.position)
        return .json(
            answer.json(hidesPrices: call.access.isOfSupport), position: answer.position)
    }
}

extension CustomerReading {
    /// Ensures that reads are current. Must be called before a customer is read from the database.
    func certain() throws(Problem) { try ask(requireCertainty()) }
}

extension CustomerReads {
    /// Calls `require`, and turns its errors into problems.
    func demand(_ after: Position?, within position: Position?) throws(Problem) {
        try rethrowing(as: Problem.init) { () throws(ReadError) in
            try require(after, within: position)
        }
    }
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
