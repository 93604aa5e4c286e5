import Core
import HTTPServer
import JSON
import Service

/// The calls about reconciliations of a project.
struct ReconciliationRoutes: Sendable {
    private let ports: Ports

    init(_ ports: Ports) {
        self.ports = ports
    }

    var routes: [Route] {
        [
            Route("GET", "/reconciliations", .administer, .database, list),
            Route("GET", "/reconciliations/{id}", .administer, .database, one),
        ]
    }

    private func list(_ call: Call) throws(Problem) -> Response {
        let all = try obtain { () throws(CommandError) in
            try ports.reconciliations(of: call.access.project)
        }
        return .json(["reconciliations": .array(all.map(\.json))])
    }

    private func one(_ call: Call) throws(Problem) -> Response {
        let id = try ReconciliationID(member: "id", call.arguments[0])
        return .json(
            try obtain { () throws(CommandError) in
                try ports.reconciliation(id, of: call.access.project)
            }.json)
    }
}
