import Core
import HTTPServer
import Service

/// The call that lists the actions people have taken.
struct TrailRoutes: Sendable {
    let trails: Trails

    var routes: [Route] {
        [
            Route(
                "GET", "/trail",
                parameters: [
                    "actor", "customer", "action", "ticket", "from", "to", "after", "limit",
                    "environment",
                ], .administer, .database, about: .found, list)
        ]
    }

    private func list(_ call: Call) throws(Problem) -> Response {
        let filter = try call.query.trailFilter()
        try call.access.require(filter.environment)
        let limit = try call.query.pageSize()
        let after = try call.query.place(
            by: TrailPlace.init, like: "the \"next\" of an earlier answer")
        return .json(
            try obey(trails.list(of: call.access.project, filter, after: after, limit: limit)).json)
    }
}

extension QueryParameters {
    fileprivate func trailFilter() throws(Problem) -> TrailFilter {
        var filter = TrailFilter()
        filter.actor = try identifier("actor")
        filter.customer = try customer()
        let action: Reason? = try identifier("action")
        filter.action = action?.text
        filter.ticket = try identifier("ticket")
        (filter.from, filter.to) = try period()
        filter.environment = try environment()
        return filter
    }
}
