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
        let after = try call.query["after"].map { text throws(Problem) in
            guard let place = TrailPlace(text) else {
                throw .invalid("after", "\"after\" takes the \"next\" of an earlier answer.")
            }
            return place
        }
        return .json(
            try obey(trails.list(of: call.access.project, filter, after: after, limit: limit)).json)
    }
}

extension QueryParameters {
    fileprivate func trailFilter() throws(Problem) -> TrailFilter {
        var filter = TrailFilter()
        filter.actor = try trailName("actor")
        filter.customer = try trailName("customer")
        try filter.customer?.requireUnreserved("customer")
        let action: Reason? = try trailName("action")
        filter.action = action?.text
        filter.ticket = try trailName("ticket")
        filter.from = try instant("from")
        filter.to = try instant("to")
        if let from = filter.from, let to = filter.to, to <= from {
            throw .invalid("to", "\"to\" must come after \"from\".")
        }
        filter.environment = try environment()
        return filter
    }

    private func trailName<Kind>(_ name: String) throws(Problem) -> Identifier<Kind>? {
        guard let text = self[name] else { return nil }
        return try Identifier(member: name, text)
    }
}
