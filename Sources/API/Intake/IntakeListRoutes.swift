import Core
import HTTPServer
import JSON
import Service

/// A call that only the service's own pages make. It lists evidence that is waiting or has been judged.
struct IntakeListRoutes: Sendable {
    /// The number of items per page.
    private static let limit = 100

    let intake: Intake

    var routes: [Route] {
        [Route("GET", "/intake", parameters: ["state"], .administer, .database, about: .both, list)]
    }

    private func list(_ call: Call) throws(Problem) -> Response {
        let state = call.query["state"].flatMap { IntakeItem.State.Word(rawValue: $0) }
        let project = call.access.project
        let items = try obey(intake.items(of: project, in: state, limit: IntakeListRoutes.limit))
        let names = try ask(intake.actorNames(of: items, in: project))
        return .json(["items": .array(items.map { $0.json(names) })])
    }
}
