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
            Route("GET", "/v1/reconciliations", .administer, .database, list),
            Route("GET", "/v1/reconciliations/{id}", .administer, .database, one),
        ]
    }

    private func list(_ call: Call) throws(Problem) -> Response {
        do throws(CommandError) {
            let all = try ports.reconciliations(of: call.access.project)
            return .json(["reconciliations": .array(all.map(\.json))])
        } catch {
            throw Problem(error)
        }
    }

    private func one(_ call: Call) throws(Problem) -> Response {
        let id = try ReconciliationID(member: "id", call.arguments[0])
        do throws(CommandError) {
            return .json(try ports.reconciliation(id, of: call.access.project).json)
        } catch {
            throw Problem(error)
        }
    }
}
