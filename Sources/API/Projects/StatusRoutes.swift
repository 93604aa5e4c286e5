import Core
import HTTPServer
import JSON
import Service

/// The call about a project's status.
struct StatusRoutes: Sendable {
    let needs: Needs

    var routes: [Route] { [Route("GET", "/status", .administer, .database, status)] }

    private func status(_ call: Call) throws(Problem) -> Response {
        let found = try obey(needs.needs(of: call.access.project))
        return .json(["needs": .array(found.map(\.json))])
    }
}

extension ProjectNeed {
    fileprivate var json: JSON {
        [
            "code": .string(code), "wrong": .bool(isWrong), "detail": .string(sentence),
            "remedy": .string(remedy), "commands": .array(commands.map(JSON.string)),
        ]
    }
}
