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
            Route("GET", "/intake/{id}", .submit, .database, item),
            Route("POST", "/intake/{id}/settle", .administer, .database, settle),
            Route("POST", "/intake/{id}/drop", .administer, .database, drop),
            Route("POST", "/intake/{id}/retry", .administer, .database, retry),
        ]
    }

    private func item(_ call: Call) throws(Problem) -> Response {
        let id = try call.intakeID()
        return .json(
            try obtain { () throws(CommandError) in
                try ports.intakeItem(id, of: call.access.project)
            }.json)
    }

    private func settle(_ call: Call) throws(Problem) -> Wish<Response> {
        let reason = try Body(call.body, of: Body.reasonNames).adminReason()
        return ports.settlingIntake(
            try call.intakeID(), of: call.access.project, reason: reason, by: call.sender
        ).response { .json($0.json) }
    }

    private func drop(_ call: Call) throws(Problem) -> Wish<Response> {
        let reason = try Body(call.body, of: Body.reasonNames).adminReason()
        return ports.droppingIntake(
            try call.intakeID(), of: call.access.project, reason: reason, by: call.sender
        ).response { .json($0.json) }
    }

    private func retry(_ call: Call) throws(Problem) -> Wish<Response> {
        let reason = try Body(call.body, of: Body.reasonNames).adminReason()
        return ports.retryingIntake(
            try call.intakeID(), of: call.access.project, reason: reason, by: call.sender
        ).response { .json($0.json) }
    }
}

extension Call {
    fileprivate func intakeID() throws(Problem) -> IntakeID {
        try IntakeID(member: "id", arguments[0])
    }
}
