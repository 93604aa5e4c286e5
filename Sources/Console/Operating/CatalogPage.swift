import API
import Core
import HTTPServer
import JSON

/// The products that stores sell, and the entitlements that each unlocks.
struct CatalogPage: ShownPage {
    private let room: ProjectRoom
    private let answer: JSON
    /// The catalog version that the visitor has just created.
    private let done: Int64?

    init(_ room: ProjectRoom, _ visit: Visit) throws(Turned) {
        self.room = room
        done = Fields(visit.query)["done"].flatMap { Int64($0) }
        answer = try turning { () throws(Problem) in
            try room.send(InnerCall("GET", "/catalog"))
        }
    }

    private var catalog: JSON? { answer["catalog"] }

    func response() -> Response {
        Page(
            title: "Catalog", visitor: room.visitor, room: room,
            content: """
                \(doneLine)
                <p>Version \(String(version)).</p>
                <p class="acts">\(Markup.link(room.catalog.below("edit"), "Edit it")) \(Markup.link(room.catalog.below("history"), "Earlier catalogs"))</p>
                \(products)
                \(names("entitlements", "Entitlements", "entitlements"))
                \(names("currencies", "Currencies", "currencies"))
                \(rules)
                """
        ).response()
    }

    private var version: Int64 { answer["version"]?.integer ?? 0 }

    private var doneLine: Markup {
        guard done == version else { return .nothing }
        return
            "<p class=\"notice done\" role=\"status\">The catalog is now version \(String(version)).</p>"
    }

    private var products: Markup {
        let all = catalog?["products"]?.array ?? []
        if all.isEmpty {
            return "<p class=\"notice\">The catalog is empty: no purchase unlocks anything yet.</p>"
        }
        let rows = all.map { product -> [Markup] in
            let credits = (product["credits"]?.object?.members ?? []).map {
                "\($0.value.integer ?? 0) \($0.name)"
            }
            let unlocked = (product["entitlements"]?.array ?? []).compactMap(\.string)
            let details = [
                product["duration"]?.string.map { "lasts \($0)" },
                product["stacking"]?.string,
                product["group"]?.string.map { "group \($0)" },
                product["level"]?.integer.map { "level \($0)" },
                product["family_shared"]?.bool == false ? "not shared with the family" : nil,
            ].compactMap(\.self)
            return [
                .code(product["id"]?.string), .text(product["store"]?.string ?? "every store"),
                .text((product["kind"]?.string ?? "").spaced),
                .text((unlocked + credits).joined(separator: ", ")),
                .text(details.joined(separator: ", ")),
            ]
        }
        return .section(
            "products", "Products",
            .table(["Product", "Store", "Kind", "Gives", "Terms"], rows))
    }

    private func names(
        _ id: StaticString, _ title: StaticString, _ member: String
    ) -> Markup {
        let all = catalog?[member]?.object?.members ?? []
        if all.isEmpty { return .nothing }
        let rows = all.map { entry -> [Markup] in
            [
                .code(entry.name), .text(entry.value["title"]?.string ?? ""),
                .text(entry.value["ending_soon"]?.string ?? ""),
            ]
        }
        return .section(id, title, .table(["Id", "Title", "Notice before the end"], rows))
    }

    private var rules: Markup {
        let all = catalog?["original_app_version"]?.array ?? []
        if all.isEmpty { return .nothing }
        let rows = all.map { rule -> [Markup] in
            let unlocked = (rule["entitlements"]?.array ?? []).compactMap(\.string)
            return [
                .text(rule["app"]?.string ?? "every app"), .text(rule["below"]?.string ?? ""),
                .text(unlocked.joined(separator: ", ")),
            ]
        }
        return .section(
            "rules", "For early installations",
            .table(["App", "First installed below", "Gives"], rows))
    }
}
