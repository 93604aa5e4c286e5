import Answers
import Core
import HTTPServer
import JSON
import Service

/// The call that asks about many customers at once.
package struct QueryRoutes: Sendable {
    package static let customerLimit = 1000
    /// The body limit, with room for a thousand ids of 256 bytes and typical escaping.
    private static let bodyLimit = 1 << 20
    /// The size limit of an answer. A thousand customers usually need far less, but a customer can hold thousands of
    /// rights.
    private static let answerLimit = 64 << 20
    let reads: CustomerReads

    var routes: [Route] {
        [
            Route(
                "POST", "/entitlements/query", headers: [.after], bodyLimit: QueryRoutes.bodyLimit,
                .read, .database, about: .found, query)
        ]
    }

    private func query(_ call: Call) throws(Problem) -> Response {
        let body = try Body(call.body, of: ["customers", "environment"])
        let environment: Environment = try body.optionalWord("environment") ?? .production
        try call.access.require(environment)
        let count = body.count(of: "customers")
        if count > QueryRoutes.customerLimit {
            throw .invalid(
                "customers",
                "\"customers\" has \(count) ids; ask about "
                    + "at most \(QueryRoutes.customerLimit) in one call.")
        }
        guard let customers: [CustomerID] = try body.optionalIDs("customers") else {
            throw .missing("customers")
        }
        if let index = customers.firstIndex(where: \.isReserved) {
            try customers[index].requireUnreserved("customers[\(index)]")
        }
        let streams = customers.map {
            Stream(project: call.access.project, environment: environment, customer: $0)
        }
        let answers = try rethrowing(as: Problem.init) { () throws(ReadError) in
            try reads.read(streams, after: call.after)
        }
        let bytes = answers.reduce(0) { $0 + $1.size }
        if bytes > QueryRoutes.answerLimit { throw .answerTooLarge(bytes, QueryRoutes.answerLimit) }
        return Response(answers: answers, about: streams)
    }
}

extension Result where Success == FilledAnswer {
    fileprivate var size: Int { (try? get().ready.body.bytes.count) ?? 0 }
}

extension Response {
    /// Formats the answers as `{"answers":[…]}`, each as in the customer's own call. An unreadable customer has an
    /// error instead.
    fileprivate init(answers: [Result<FilledAnswer, Fault>], about streams: [Stream]) {
        var body = Array("{\"answers\":[".utf8)
        body.reserveCapacity(32 + answers.reduce(0) { $0 + $1.size + 48 })
        for (index, (stream, answer)) in zip(streams, answers).enumerated() {
            if index > 0 { body.append(UInt8(ascii: ",")) }
            switch answer {
            case .success(let answer): answer.append(to: &body, answer.position.description)
            case .failure(let fault):
                JSON.answer(about: stream, ["error": Problem(fault).json]).write(to: &body)
            }
        }
        body.append(contentsOf: "]}".utf8)
        var headers = [Header(.contentType, "application/json"), Response.askAgain]
        if let staleness = answers.compactMap({ try? $0.get().staleness }).max() {
            headers.append(Header(.staleness, String(staleness)))
        }
        self.init(status: 200, headers: headers, body: body)
    }
}
