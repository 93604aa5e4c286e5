package import Core
import HTTPServer
package import JSON
package import Service

/// The call that lists grants made by support.
struct GrantListRoutes: Sendable {
    let lists: GrantLists

    var routes: [Route] {
        [
            Route(
                "GET", "/grants",
                parameters: [
                    "ticket", "actor", "entitlement", "reason", "from", "to", "active_at", "after",
                    "limit", "environment",
                ], .administer, .database, list)
        ]
    }

    private func list(_ call: Call) throws(Problem) -> Response {
        let filter = try call.query.grantFilter()
        let page = try call.page(
            by: GrantPlace.init, like: "the \"next\" of an earlier answer"
        ) { project, environment, place, limit throws(CommandError) in
            try lists.list(of: project, in: environment, filter, after: place, limit: limit)
        }
        return .json(page.json)
    }
}

extension QueryParameters {
    fileprivate func grantFilter() throws(Problem) -> GrantFilter {
        var filter = GrantFilter()
        filter.ticket = try identifier("ticket")
        filter.actor = try identifier("actor")
        filter.entitlement = try identifier("entitlement")
        let reason: Reason? = try identifier("reason")
        if let reason, reason.isBlank {
            throw .invalid("reason", "\"reason\" is blank; send words from the reason.")
        }
        filter.reason = reason?.text
        (filter.from, filter.to) = try period()
        filter.activeAt = try instant("active_at")
        return filter
    }
}

extension GrantListAnswer {
    /// The answer to `GET /v1/grants`.
    package var json: JSON {
        let list: JSON = [
            "project": .string(project.text), "environment": .string(environment.rawValue),
            "at": .instant(at), "grants": .array(grants.map { $0.json(actorNames) }),
            "next": .optional(next?.text),
        ]
        return list.with("unread", unread > 0 ? .integer(unread) : nil)
    }
}

extension ListedGrant {
    private func head(_ names: [Actor: String]) -> JSON {
        [
            "customer": .string(customer.text), "active": .bool(isActive),
            "given_at": .instant(grant.givenAt), "given_by": .optional(grant.givenBy?.text),
            "given_by_name": .optional(grant.givenBy.flatMap { names[$0] }),
        ]
    }

    fileprivate func json(_ names: [Actor: String]) -> JSON {
        head(names).followed(by: grant.json(bounds))
    }
}

extension GrantPlace {
    /// The place in the format of `next` and `after`.
    package var text: String { "\(givenAt.milliseconds):\(grant)" }

    package init?(_ text: String) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let milliseconds = Int64(parts[0]),
            let grant = try? GrantID(String(parts[1]))
        else { return nil }
        self.init(givenAt: Instant(milliseconds: milliseconds), grant: grant)
    }
}
