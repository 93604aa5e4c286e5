import Core
import HTTPServer
import JSON
import Service

/// Calls about a project's reconciliations.
struct ReconciliationRoutes: Sendable {
    let reconciliations: Reconciliations

    var routes: [Route] {
        [
            Route("GET", "/reconciliations", .administer, .database, list),
            Route("POST", "/reconciliations", .administer, .database, request),
            Route("GET", "/reconciliations/{id}", .administer, .database, one),
        ]
    }

    private func list(_ call: Call) throws(Problem) -> Response {
        let all = try obey(reconciliations.all(of: call.access.project))
        return .json(["reconciliations": .array(all.map(\.json))])
    }

    private func request(_ call: Call) throws(Problem) -> Wish<Response> {
        let body = try Body(call.body, of: ["only", "full", "repair"])
        var plan = ReconcilePlan()
        plan.isFull = try body.flag("full")
        plan.repairs = try body.flag("repair")
        if let words = try body.optionalTexts("only") { plan.steps = try words.steps }
        if let flag = plan.idle {
            throw .invalid(
                flag,
                "\"\(flag)\" has no effect with the steps in \"only\": add \"projections\", or "
                    + "leave \"\(flag)\" out.")
        }
        return reconciliations.requesting(plan, of: call.access.project, by: call.sender)
            .response { reconciliation in
                var response = Response.json(reconciliation.json, status: 202)
                response.headers.append(
                    Header(.location, "/v1/reconciliations/\(reconciliation.id)"))
                return response
            }
    }

    private func one(_ call: Call) throws(Problem) -> Response {
        let id = try ReconciliationID(member: "id", call.arguments[0])
        return .json(
            try obey(reconciliations.one(id, of: call.access.project)).json)
    }
}

extension [String] {
    /// The named steps in order of execution.
    fileprivate var steps: [ReconcileStep] {
        get throws(Problem) {
            let known = ReconcileStep.allCases.map(\.rawValue)
            guard !isEmpty, allSatisfy(known.contains) else {
                throw .invalid(
                    "only", "\"only\" takes one or more of \(known.joined(separator: ", ")).")
            }
            return ReconcileStep.allCases.filter { contains($0.rawValue) }
        }
    }
}
