import Core
import HTTPServer
import Service

/// Calls that find a customer by an id or another name, such as an order number.
struct FindRoutes: Sendable {
    let finds: Finds
    let orders: OrderNumbers
    let notes: RefusedCalls

    var routes: [Route] {
        [
            Route(
                "GET", "/find", parameters: ["q", "environment", "limit"], .read, .database,
                about: .found, find),
            Route("POST", "/find", headers: [], .help, .database, about: .found, ask),
        ]
    }

    private func find(_ call: Call) throws(Problem) -> Response {
        guard let text = call.query["q"] else {
            throw .missing("q", "Say what to look for: ?q=…")
        }
        let words = try FindWords(member: text)
        let environment = try call.query.environment()
        try call.access.require(environment)
        let limit = try call.query.integer("limit", in: Finds.limits, default: FindRoutes.usual)
        return .json(
            try obey(
                finds.find(words, of: call.access.project, in: environment, limit: Int(limit))
            ).json)
    }

    private func ask(_ call: Call) throws(Problem) -> Response {
        let body = try Body(call.body, of: ["q", "environment", "limit", "ask_store", "ticket"])
        let words = try FindWords(member: try body.text("q"))
        let environment = try body.optionalText("environment").map { text throws(Problem) in
            try Environment(member: "environment", text)
        }
        try call.access.require(environment)
        let limit = try body.optionalInteger("limit", in: Finds.limits) ?? FindRoutes.usual
        let project = call.access.project
        if try !body.flag("ask_store") {
            _ = try body.ticket()
            return .json(
                try obey(finds.find(words, of: project, in: environment, limit: Int(limit))).json)
        }
        let ticket = try body.ticket(of: call)
        let answer = try obey(
            orders.find(words, of: project, in: environment, limit: Int(limit)))
        // The store's answer is recorded under the store's name. Only this note shows who asked.
        if notes.keeps(call.access.key) {
            notes.note(call.access.key, FindRoutes.asking, status: 200, code: FindRoutes.asked) {
                ($0.environment, $0.ticket) = (environment, ticket)
            }
        }
        return .json(answer.json)
    }

    private static let asking = "POST /v1/find"
    private static let asked = "asked_store"

    private static var usual: Int64 { Finds.limits.upperBound }
}

extension FindWords {
    fileprivate init(member text: String) throws(Problem) {
        do {
            try self.init(text)
        } catch {
            throw .invalid("q", "\"q\" \(error).")
        }
    }
}
