import Core
import HTTPServer
import Service

/// The calls about evidence that waits to be judged.
struct IntakeRoutes: Sendable {
    private let intake: Intake

    init(_ intake: Intake) {
        self.intake = intake
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
                try intake.item(id, of: call.access.project)
            }.json)
    }

    private func settle(_ call: Call) throws(Problem) -> Wish<Response> {
        let reason = try Body(call.body, of: Body.reasonNames).adminReason()
        return intake.settling(
            try call.intakeID(), of: call.access.project, reason: reason, by: call.sender
        ).response { .json($0.json) }
    }

    private func drop(_ call: Call) throws(Problem) -> Wish<Response> {
        let reason = try Body(call.body, of: Body.reasonNames).adminReason()
        return intake.dropping(
            try call.intakeID(), of: call.access.project, reason: reason, by: call.sender
        ).response { .json($0.json) }
    }

    private func retry(_ call: Call) throws(Problem) -> Wish<Response> {
        let reason = try Body(call.body, of: Body.reasonNames).adminReason()
        return intake.retrying(
            try call.intakeID(), of: call.access.project, reason: reason, by: call.sender
        ).response { .json($0.json) }
    }
}

extension Call {
    fileprivate func intakeID() throws(Problem) -> IntakeID {
        try IntakeID(member: "id", arguments[0])
    }
}
