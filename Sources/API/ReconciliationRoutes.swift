import Core
import HTTPServer
import JSON
import Service

/// The calls about reconciliations of a project.
struct ReconciliationRoutes: Sendable {
    let ports: Ports

    var routes: [Route] {
        [
            Route("GET", "/reconciliations", .administer, .database, list),
            Route("GET", "/reconciliations/{id}", .administer, .database, one),
        ]
    }

    private func list(_ call: Call) throws(Problem) -> Response {
        let all = try obey(ports.reconciliations(of: call.access.project))
        return .json(["reconciliations": .array(all.map(\.json))])
    }

    private func one(_ call: Call) throws(Problem) -> Response {
        let id = try ReconciliationID(member: "id", call.arguments[0])
        return .json(
            try obey(ports.reconciliation(id, of: call.access.project)).json)
    }
}
