import CatalogFile
import Core
import HTTPServer
import JSON
import Service

/// Calls about the catalog's text, with a reason for each change, and about earlier changes. Only the service's own
/// pages make these calls.
struct CatalogChangeRoutes: Sendable {
    private static let bodyLimit = 1 << 20

    let catalogs: Catalogs

    private var calls: CatalogRoutes { CatalogRoutes(catalogs: catalogs) }

    var routes: [Route] {
        [
            Route(
                "POST", "/catalog/changes", parameters: ["dry_run", "if_version"],
                bodyLimit: CatalogChangeRoutes.bodyLimit, .administer, .database, change),
            Route("GET", "/catalog/changes/{version}", .administer, .database, past),
        ]
    }

    private func change(_ call: Call) throws(Problem) -> Wish<Response> {
        let body = try Body(call.body, of: ["text"] + Body.reasonNames)
        let basis = try call.query.optionalInteger("if_version", in: 0...Int64.max)
        let file = try calls.contents(
            Array(try body.text("text").utf8), after: try calls.read(call).catalog)
        let proposal = CatalogProposal(file.catalog, basis: basis)
        let project = call.access.project
        if try call.query.flag("dry_run") {
            return calls.counted(
                calls.comparing(proposal, of: project), in: project, warnings: file.warnings)
        }
        return catalogs.applying(
            proposal, try body.adminReason(), to: project, by: call.sender
        ).response { .json(["version": .integer($0.version), "applied": .bool($0.isApplied)]) }
    }

    private func past(_ call: Call) throws(Problem) -> Response {
        let place = Int64(call.arguments[0])
        guard let place, place > 0,
            let past = try obey(catalogs.past(at: place, of: call.access.project))
        else { throw .invalid("version", "No catalog was replaced at this position.") }
        return .json([
            "version": .integer(past.step.version), "at": .instant(past.at),
            "changes": .array(past.step.changes.map(\.json)),
            "catalog": CatalogFile.json(past.step.new),
        ])
    }
}
