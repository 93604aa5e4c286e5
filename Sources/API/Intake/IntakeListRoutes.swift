import Core
import HTTPServer
import JSON
import Service

/// The call that lists queued and judged evidence. Only the service's own pages make it.
struct IntakeListRoutes: Sendable {
    /// The number of items per page.
    private static let limit = 100

    let intake: Intake

    var routes: [Route] {
        [
            Route(
                "GET", "/intake", parameters: ["state", "after"], .administer, .database,
                about: .both, list)
        ]
    }

    private func list(_ call: Call) throws(Problem) -> Response {
        let state = call.query["state"].flatMap { IntakeItem.State.Word(rawValue: $0) }
        let project = call.access.project
        let after = try call.query["after"].map { text throws(Problem) in
            try IntakeID(member: "after", text)
        }
        let limit = IntakeListRoutes.limit
        // Reads one more item than the page holds, which shows whether another page follows.
        let found = try obey(
            intake.items(of: project, in: state, after: after, limit: limit + 1))
        let items = Array(found.prefix(limit))
        let names = try ask(intake.actorNames(of: items, in: project))
        return .json([
            "items": .array(items.map { $0.json(names) }),
            "next": .optional(found.count > limit ? items.last?.id.text : nil),
        ])
    }
}
