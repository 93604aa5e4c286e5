import JSON

/// A catalog's changes, and the customers affected.
struct CatalogStepPart {
    /// The maximum number of customers shown.
    private static let limit = 100

    let step: JSON
    let room: ProjectRoom

    var markup: Markup {
        "\(warnings)\(CatalogStepPart.changes(step["changes"]?.array ?? []))\(tallies)\(concerned)\(waiting)"
    }

    static func changes(_ changes: [JSON]) -> Markup {
        let rows = changes.map { change -> [Markup] in
            let members = (change["members"]?.array ?? []).compactMap(\.string)
            let subject = (change["subject"]?.string ?? "").spaced
            return [
                .text([subject, change["id"]?.string ?? ""].joined(separator: " ")),
                .text(change["store"]?.string ?? ""), .text(change["change"]?.string ?? ""),
                .text(members.joined(separator: ", ")),
            ]
        }
        return .section(
            "changes", "What changes", .table(["What", "Store", "Change", "Members"], rows))
    }

    private var warnings: Markup {
        let lines: [Markup] = (step["warnings"]?.array ?? []).map {
            "<li>\($0["path"]?.string ?? "") \($0["detail"]?.string ?? "")</li>"
        }
        return lines.isEmpty
            ? .nothing : .section("warnings", "Warnings", "<ul>\(lines)</ul>")
    }

    private var tallies: Markup {
        let rows = ["production", "sandbox"].map { environment -> [Markup] in
            [
                .text(environment), .text(tally("gains", environment)),
                .text(tally("losses", environment)),
            ]
        }
        return .section(
            "access", "Whose access changes immediately",
            .table(["Environment", "Customers who gain", "Customers who lose"], rows))
    }

    private func tally(_ side: String, _ environment: String) -> String {
        let tally = step[side]?[environment]
        let parts = (tally?["entitlements"]?.object?.members ?? []).map {
            "\($0.name) \($0.value.integer ?? 0)"
        }
        let count = String(tally?["customers"]?.integer ?? 0)
        return parts.isEmpty ? count : "\(count) (\(parts.joined(separator: ", ")))"
    }

    private var concerned: Markup {
        let all = step["customers"]?.array ?? []
        if all.isEmpty { return .nothing }
        let rows = all.prefix(CatalogStepPart.limit).map { customer -> [Markup] in
            let name = customer["customer"]?.string ?? ""
            let environment = customer["environment"]?.string ?? ""
            let stream = NamedStream(room, name, isSandbox: environment == "sandbox")
            return [
                .link(stream.place, name), .text(environment), .text(names(customer["gained"])),
                .text(names(customer["lost"])),
            ]
        }
        let isCut = all.count > rows.count || step["more"]?.bool == true
        let more: Markup = isCut ? "<p>The counts above include more customers.</p>" : .nothing
        let unread = step["unread"]?.integer ?? 0
        let damaged: Markup =
            unread == 0
            ? .nothing
            : "<p>The events of \(String(unread)) customers cannot be read; an operator can investigate with: <code>deed audit --projections</code></p>"
        return
            "\(Markup.table(["Customer", "Environment", "Gains", "Loses"], rows))\(more)\(damaged)"
    }

    private func names(_ list: JSON?) -> String {
        (list?.array ?? []).compactMap(\.string).joined(separator: ", ")
    }

    private var waiting: Markup {
        let rows = (step["waiting"]?.array ?? []).map { product -> [Markup] in
            [
                .code(product["product"]?.string), .text(product["store"]?.string ?? ""),
                .text(String(product["purchases"]?.integer ?? 0)),
            ]
        }
        return rows.isEmpty
            ? .nothing
            : .section(
                "waiting", "Purchases waiting for a new product",
                .table(["Product", "Store", "Purchases"], rows))
    }
}
