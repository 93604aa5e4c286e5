import Core
import HTTPServer
import Service

/// Calls that list and manage queued evidence.
struct IntakeRoutes: Sendable {
    let intake: Intake

    var routes: [Route] {
        let decisions = IntakeDecision.allCases.map { decision in
            Route(
                "POST", "/intake/{id}/\(decision.rawValue)", .administer, .database, about: .found
            ) { call throws(Problem) in try decide(decision, call) }
        }
        return [Route("GET", "/intake/{id}", .submit, .database, about: .found, item)] + decisions
    }

    private func item(_ call: Call) throws(Problem) -> Response {
        let id = try call.intakeID()
        let item = try obey(intake.item(id, of: call.access.project))
        try call.access.require(item.wish.heading.environment)
        return .json(item.json(try ask(intake.actorNames(of: [item], in: call.access.project))))
    }

    private func decide(
        _ decision: IntakeDecision, _ call: Call
    ) throws(Problem) -> Wish<Response> {
        let reason = try Body(call.body, of: Body.reasonNames).adminReason()
        let (id, project) = (try call.intakeID(), call.access.project)
        if call.access.isBound {
            let item = try obey(intake.item(id, of: project))
            try call.access.require(item.wish.heading.environment)
        }
        return intake.deciding(decision, about: id, of: project, reason: reason, by: call.sender)
            .thenLooking { [intake] item throws(CommandError) in
                item.json(try obtain(intake.actorNames(of: [item], in: project)))
            }.response { .json($0) }
    }
}

extension Call {
    fileprivate func intakeID() throws(Problem) -> IntakeID {
        try IntakeID(member: "id", arguments[0])
    }
}
