import Core
import HTTPServer
import Service

/// The call that lists a project's keys. Only the command line creates and revokes keys.
struct KeyRoutes: Sendable {
    let lists: KeyLists

    var routes: [Route] {
        [Route("GET", "/keys", parameters: ["after", "limit"], .administer, .database, list)]
    }

    private func list(_ call: Call) throws(Problem) -> Response {
        let limit = try call.query.pageSize()
        let after = try call.query["after"].map { text throws(Problem) in
            try KeyID(member: "after", text)
        }
        do throws(CommandError) {
            let page = try lists.list(of: call.access.project, after: after, limit: limit)
            return .json(page.json)
        } catch {
            guard case .refused(.keyUnknown) = error else { throw Problem(error) }
            throw .invalid("after", "\"after\" takes the \"next\" of an earlier answer.")
        }
    }
}
