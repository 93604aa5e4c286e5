package import Core
package import JSON

/// Reads and writes catalogs as JSON. The format is described in `docs/catalog.md`.
package enum CatalogFile {
    /// A catalog and the warnings about its file.
    package struct Contents: Sendable {
        package let catalog: Catalog
        package let warnings: [CatalogProblem]
    }

    /// The maximum size of the canonical form, which must fit into an event.
    package static let sizeLimit = (1 << 20) - 64

    /// Reads a catalog, or throws all of its problems with their paths. Ids that the previous
    /// catalog lacks are new and must be in their proper form.
    package static func read(
        _ json: JSON, after old: Catalog = Catalog()
    ) throws(InvalidCatalog) -> Contents {
        var reader = CatalogReader(after: old)
        reader.read(json)
        let catalog = try reader.draft.validated()
        return Contents(catalog: catalog, warnings: reader.warnings + catalog.warnings)
    }

    /// Reads a catalog from an event in the log. A later release may have added members that this
    /// release does not know.
    package static func recorded(_ json: JSON) throws(InvalidCatalog) -> Catalog {
        var reader = CatalogReader(after: nil)
        reader.read(json)
        return try reader.draft.validated()
    }

    /// Reads a hand-written catalog file. The catalog must fit into an event.
    package static func read(
        bytes: [UInt8], after old: Catalog = Catalog()
    ) throws(InvalidCatalog) -> Contents {
        let json: JSON
        do {
            json = try JSON.read(bytes)
        } catch {
            let before = bytes.prefix(error.offset)
            let line = before.count { $0 == UInt8(ascii: "\n") } + 1
            let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
            let column = String(decoding: before[start...], as: UTF8.self).count + 1
            let sentence = "is not JSON: \(error) (line \(line), column \(column))"
            throw InvalidCatalog(problems: [CatalogProblem(path: "", sentence: sentence)])
        }
        let contents = try read(json, after: old)
        let size = CatalogFile.json(contents.catalog).bytes.count
        if size > sizeLimit {
            let sentence = "takes \(size) bytes when it is stored; the limit is \(sizeLimit)"
            throw InvalidCatalog(problems: [CatalogProblem(path: "", sentence: sentence)])
        }
        return contents
    }

    /// Returns the catalog in canonical form, which is sorted and omits default values.
    package static func json(_ catalog: Catalog) -> JSON {
        [
            "products": .array(catalog.products.map(\.json)),
            "entitlements": titles(catalog.entitlementTitles, catalog.endingSoon),
            "currencies": titles(catalog.currencyTitles),
            "original_app_version": .array(catalog.originalVersionRules.map(\.json)),
        ]
    }

    private static func titles<Kind>(
        _ titles: [Identifier<Kind>: String],
        _ endingSoon: [Identifier<Kind>: CalendarDuration] = [:]
    ) -> JSON {
        .object(each: titles.sorted { $0.key < $1.key }) { id, title in
            let entry: JSON = ["title": .string(title)]
            return (id.text, entry.with("ending_soon", endingSoon[id].map { JSON.string($0.text) }))
        }
    }
}

extension Product {
    fileprivate var json: JSON {
        var object = JSONObject()
        object.append("id", .string(id.text))
        if key.store != .unnamed { object.append("store", .string(key.store.rawValue)) }
        object.append("kind", .string(kind.rawValue))
        switch terms {
        case .consumable(let credits):
            let amounts = JSON.object(each: credits.sorted { $0.key < $1.key }) {
                ($0.key.text, .integer($0.value))
            }
            object.append("credits", amounts)
        case .nonConsumable:
            break
        case .nonRenewing(let duration, let stacking):
            object.append("duration", .string(duration.text))
            object.append("stacking", .string(stacking.rawValue))
        case .autoRenewable(let group, let level):
            if let group { object.append("group", .string(group)) }
            object.append("level", .integer(level))
        }
        if !entitlements.isEmpty {
            object.append("entitlements", .array(entitlements.map { .string($0.text) }))
        }
        if !isFamilyShared { object.append("family_shared", false) }
        return .object(object)
    }
}

extension OriginalVersionRule {
    fileprivate var json: JSON {
        var object = JSONObject()
        if let app { object.append("app", .string(app.text)) }
        object.append("below", .string(below))
        object.append("entitlements", .array(entitlements.map { .string($0.text) }))
        return .object(object)
    }
}
