import CatalogFile
package import Core
package import JSON
package import Service

extension CatalogAnswer {
    /// The answer to `GET /v1/catalog`.
    package var json: JSON {
        ["version": .integer(version), "catalog": CatalogFile.json(catalog)]
    }

    /// The answer to `GET /v1/products`.
    var productsJSON: JSON {
        let products = catalog.products.map { product -> JSON in
            [
                "id": .string(product.id.text), "store": .string(product.key.store.rawValue),
                "kind": .string(product.kind.rawValue),
            ]
        }
        return ["version": .integer(version), "products": .array(products)]
    }
}

extension CatalogStep {
    /// Returns the answer to `PUT /v1/catalog`.
    package func json(_ counts: AccessCounts, warnings: [CatalogProblem]) -> JSON {
        [
            "version": .integer(version), "changes": .array(changes.map(\.json)),
            "gains": .tallies(counts.gains), "losses": .tallies(counts.losses),
            "customers": .array(counts.concerned.map(\.json)), "more": .bool(counts.hasMore),
            "waiting": .array(counts.waitingInOrder.map { .waiting($0, $1) }),
            "unread": .integer(counts.unread),
            "applied": .bool(isApplied), "warnings": .problems(warnings),
        ]
    }
}

extension JSON {
    /// The maximum number of problems listed in an answer.
    package static let problemLimit = 1000

    /// Returns the first `problemLimit` problems and their paths.
    package static func problems(_ problems: [CatalogProblem]) -> JSON {
        .array(
            problems.prefix(problemLimit).map {
                ["path": .string($0.path), "detail": .string($0.sentence)]
            })
    }

    fileprivate static func waiting(_ product: ProductKey, _ purchases: Int) -> JSON {
        [
            "store": .string(product.store.rawValue), "product": .string(product.id.text),
            "purchases": .integer(purchases),
        ]
    }

    fileprivate static func tallies(_ tallies: [Environment: AccessTally]) -> JSON {
        .object(each: Environment.allCases) { environment in
            let tally = tallies[environment] ?? AccessTally()
            let counts = JSON.object(each: tally.byEntitlement.sorted { $0.key < $1.key }) {
                ($0.key.text, .integer($0.value))
            }
            return (
                environment.rawValue,
                ["customers": .integer(tally.customers), "entitlements": counts]
            )
        }
    }

    static func ids<Kind>(_ ids: [Identifier<Kind>]) -> JSON {
        .array(ids.map { .string($0.text) })
    }
}

extension AccessCounts.Concerned {
    fileprivate var json: JSON {
        .answer(about: stream, ["gained": .ids(change.gained), "lost": .ids(change.lost)])
    }
}

extension CatalogChange {
    var json: JSON {
        var object = JSONObject()
        object.append("change", .string(kind.rawValue))
        switch subject {
        case .product(let key):
            object.append("subject", "product")
            object.append("store", .string(key.store.rawValue))
            object.append("id", .string(key.id.text))
        case .entitlementTitle(let id), .endingSoon(let id):
            object.append("subject", "entitlement")
            object.append("id", .string(id.text))
        case .currencyTitle(let id):
            object.append("subject", "currency")
            object.append("id", .string(id.text))
        case .originalVersionRules:
            object.append("subject", "original_app_version")
        }
        object.append("members", .array(members.map(JSON.string)))
        return .object(object)
    }
}
