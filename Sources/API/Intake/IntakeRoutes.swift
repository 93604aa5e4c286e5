import Core
import HTTPServer
import Service

/// The calls about evidence that waits to be judged.
struct IntakeRoutes: Sendable {
    let intake: Intake

    var routes: [Route] {
        [
            Route("GET", "/intake/{id}", .submit, .database, item),
            Route("POST", "/intake/{id}/settle", .administer, .database) {
                call throws(Problem) in try change(call, intake.settling)
            },
            Route("POST", "/intake/{id}/drop", .administer, .database) {
                call throws(Problem) in try change(call, intake.dropping)
            },
            Route("POST", "/intake/{id}/retry", .administer, .database) {
                call throws(Problem) in try change(call, intake.retrying)
            },
        ]
    }

    private func item(_ call: Call) throws(Problem) -> Response {
        let id = try call.intakeID()
        return .json(
            try obey(intake.item(id, of: call.access.project)).json)
    }

    private func change(
        _ call: Call, _ change: (IntakeID, ProjectID, AdminReason, Sender) -> Wish<IntakeItem>
    ) throws(Problem) -> Wish<Response> {
        let reason = try Body(call.body, of: Body.reasonNames).adminReason()
        return change(try call.intakeID(), call.access.project, reason, call.sender)
            .response { .json($0.json) }
    }
}

extension Call {
    fileprivate func intakeID() throws(Problem) -> IntakeID {
        try IntakeID(member: "id", arguments[0])
    }
}
