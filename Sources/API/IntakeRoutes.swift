import Core
import HTTPServer
import Service

/// The calls about evidence that waits to be judged.
struct IntakeRoutes: Sendable {
    private let ports: Ports

    init(_ ports: Ports) {
        self.ports = ports
    }

    var routes: [Route] {
        [
            Route("GET", "/v1/intake/{id}", .keyed(.backend, item)),
            Route("POST", "/v1/intake/{id}/settle", .keyed(.admin, settle)),
            Route("POST", "/v1/intake/{id}/drop", .keyed(.admin, drop)),
            Route("POST", "/v1/intake/{id}/retry", .keyed(.admin, retry)),
        ]
    }

    private func item(_ call: Call) throws(Problem) -> Response {
        try answer(call) { id, project throws(CommandError) in
            try ports.intakeItem(id, of: project)
        }
    }

    private func settle(_ call: Call) throws(Problem) -> Response {
        let reason = try Body(call.body, of: Body.reasonNames).adminReason()
        return try answer(call) { id, project throws(CommandError) in
            try ports.settleIntake(id, of: project, reason: reason, by: call.sender)
        }
    }

    private func drop(_ call: Call) throws(Problem) -> Response {
        let reason = try Body(call.body, of: Body.reasonNames).adminReason()
        return try answer(call) { id, project throws(CommandError) in
            try ports.dropIntake(id, of: project, reason: reason, by: call.sender)
        }
    }

    private func retry(_ call: Call) throws(Problem) -> Response {
        let reason = try Body(call.body, of: Body.reasonNames).adminReason()
        return try answer(call) { id, project throws(CommandError) in
            try ports.retryIntake(id, of: project, reason: reason, by: call.sender)
        }
    }

    private func answer(
        _ call: Call,
        _ body: (IntakeID, ProjectID) throws(CommandError) -> IntakeItem
    ) throws(Problem) -> Response {
        let id = try IntakeID(member: "id", call.arguments[0])
        do throws(CommandError) {
            return .json(try body(id, call.access.project).json)
        } catch {
            throw Problem(error)
        }
    }
}
