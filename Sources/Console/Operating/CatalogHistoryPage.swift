import API
import HTTPServer
import JSON

/// The project's catalogs: when, by whom, and why each one was set.
struct CatalogHistoryPage: ShownPage {
    private let room: ProjectRoom
    private let trail: JSON

    init(_ room: ProjectRoom, _ visit: Visit) throws(Turned) {
        self.room = room
        let after = Fields(visit.query)["after"].map { "&after=\(percentEncoded($0))" } ?? ""
        let call = InnerCall("GET", "/trail", query: "action=catalog.changed&limit=50\(after)")
        trail = try turning { () throws(Problem) in try room.send(call) }
    }

    private var place: Place { room.catalog.below("history") }

    func response() -> Response {
        let rows = (trail["entries"]?.array ?? []).compactMap(row)
        let next = trail["next"]?.string.map { place.with("after", $0) }
        let table = Markup.table(
            ["Change", "When", "By", "Reason", "Ticket"], rows,
            ifEmpty: "There are no earlier catalogs.")
        return Page(
            title: "Earlier catalogs", visitor: room.visitor, room: room,
            content: """
                <p>\(Markup.link(room.catalog, "The current catalog"))</p>
                \(table)
                \(Markup.more(next, "Older ones"))
                """
        ).response()
    }

    private func row(_ entry: JSON) -> [Markup]? {
        guard let version = entry["version"]?.integer else { return nil }
        let actor = entry["actor_name"]?.string ?? entry["actor"]?.string ?? ""
        return [
            .link(place.below(String(version)), "Change \(version)"), .time(entry["at"]?.string),
            .text(actor), .text(entry["reason"]?.string ?? ""),
            .text(entry["ticket"]?.string ?? ""),
        ]
    }

    /// Returns a page with one catalog and its differences from the previous one.
    static func past(_ room: ProjectRoom, _ visit: Visit) throws(Turned) -> Response {
        let place = visit.arguments[1]
        let answer = try turning { () throws(Problem) in
            try room.send(InnerCall("GET", "/catalog/changes/\(percentEncoded(place))"))
        }
        let back = room.catalog.below("edit").with("from", place)
        return Page(
            title: "Catalog, version \(String(answer["version"]?.integer ?? 0))",
            visitor: room.visitor, room: room,
            content: """
                <p>Since \(Markup.time(answer["at"]?.string)). \(Markup.link(back, "Go back to this catalog")); a preview shows the changes first.</p>
                \(CatalogStepPart.changes(answer["changes"]?.array ?? []))
                <details><summary>The whole catalog</summary><pre>\(answer["catalog"]?.prettyText ?? "")</pre></details>
                """
        ).response()
    }
}
