import Core
import HTTPServer
import JSON
import Service

/// A call that only the service's own pages make. It returns a project's figures.
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
        return .json(found.json)
    }
}

extension ProjectFigures {
    fileprivate var json: JSON {
        [
            "at": .instant(at), "week_ago": .instant(weekAgo),
            "entitlements": .array(entitlements.map(\.json)),
            "products": .array(products.map(\.json)),
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

extension ProjectFigures.Active {
    fileprivate var json: JSON {
        ["name": .string(name), "now": .integer(now), "week_ago": .integer(earlier)]
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
            "customer": .optional(customer), "product": .string(product),
            "purchase": .string(purchase), "transaction": .string(transaction), "at": .string(at),
        ]
    }
}
