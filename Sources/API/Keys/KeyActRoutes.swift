import Core
import HTTPServer
import JSON
import Service

/// Calls that only the service's own pages make, because a key cannot revoke other keys.
struct KeyActRoutes: Sendable {
    let lists: KeyLists
    let projects: Projects

    var routes: [Route] {
        [
            Route("GET", "/keys/{key}", .administer, .database, show),
            Route("POST", "/keys/{key}/revoke", .administer, .memory, revoke),
        ]
    }

    private func show(_ call: Call) throws(Problem) -> Response {
        let id = try KeyID(member: "key", call.arguments[0])
        let (key, at) = try obey(lists.key(id, of: call.access.project))
        return .json(key.json(at: at))
    }

    private func revoke(_ call: Call) throws(Problem) -> Wish<Response> {
        let id = try KeyID(member: "key", call.arguments[0])
        let why = try Body(call.body, of: Body.reasonNames).adminReason()
        return projects.revokingKey(id, why, of: call.access.project, by: call.sender)
            .response { .json(["key": .string($0.id.text)]) }
    }
}
