import Core
import HTTPServer
import JSON
import Service

/// The call for a project's figures, which only the service's own pages make. `at` is `null` if nothing has been
/// counted yet.
struct FigureRoutes: Sendable {
    let figures: Figures

    var routes: [Route] {
        [
            Route("GET", "/figures", parameters: ["environment"], .read, .database, show)
        ]
    }

    private func show(_ call: Call) throws(Problem) -> Response {
        let environment = try call.query.environment() ?? .production
        let found = try obey(figures.figures(of: call.access.project, in: environment))
        return .json(found?.json ?? ["at": .null])
    }
}

extension ProjectFigures {
    fileprivate var json: JSON {
        [
            "at": .instant(at), "week_ago": .instant(weekAgo),
            "entitlements": entitlements.json, "products": products.json,
            "ending": [
                "count": .integer(ending.count), "items": .array(ending.items.map(\.json)),
            ],
            "refunds": [
                "count": .integer(refunds.count), "items": .array(refunds.items.map(\.json)),
            ],
            "unclaimed": .integer(unclaimed),
        ]
    }
}

extension [String: ProjectFigures.Active] {
    fileprivate var json: JSON {
        .array(
            sorted { $0.key < $1.key }.map { name, active in
                [
                    "name": .string(name), "now": .integer(active.now),
                    "week_ago": .integer(active.earlier),
                ]
            })
    }
}

extension ProjectFigures.Ending {
    fileprivate var json: JSON {
        [
            "customer": .string(customer), "entitlement": .string(entitlement),
            "ends": .instant(ends),
        ]
    }
}

extension ProjectFigures.Refunded {
    fileprivate var json: JSON {
        [
            "customer": .optional(owner), "product": .string(product),
            "purchase": .string(purchase), "transaction": .string(transaction), "at": .string(at),
        ]
    }
}
