import API
import Core
import HTTPServer
import JSON

/// The actions that people have taken in a project, newest first.
struct TrailPage: ShownPage {
    private static let filters = [("ticket", "Ticket"), ("customer", "Customer"), ("actor", "By")]

    private let room: ProjectRoom
    private let fields: Fields
    private let answer: JSON

    init(_ room: ProjectRoom, _ visit: Visit) throws(Turned) {
        let fields = Fields(visit.query)
        self.room = room
        self.fields = fields
        answer = try turning { () throws(Problem) in
            let names = TrailPage.filters.map(\.0) + ["after"]
            let query =
                names.compactMap { name in
                    fields.trimmed(name).map { "\(name)=\(percentEncoded($0))" }
                } + ["limit=100"]
            return try room.send(
                InnerCall("GET", "/trail", query: query.joined(separator: "&")))
        }
    }

    func response() throws(Turned) -> Response {
        Page(title: "Trail", visitor: room.visitor, room: room, content: content).response()
    }

    private var content: Markup {
        let inputs: [Markup] = TrailPage.filters.map { name, label in
            """
            <p><label for="\(value: name)">\(label)</label>
            <input id="\(value: name)" name="\(value: name)" maxlength="256" value="\(value: fields[name] ?? "")"></p>
            """
        }
        let entries = answer["entries"]?.array ?? []
        var next = room.trail
        for (name, _) in TrailPage.filters { next = next.with(name, fields.trimmed(name)) }
        let older = answer["next"]?.string.map { next.with("after", $0) }
        let table: Markup =
            entries.isEmpty
            ? "<p>No entry matches.</p>"
            : """
            <div class="wide"><table>
            <thead><tr><th scope="col">When</th><th scope="col">By</th><th scope="col">What</th><th scope="col">Customer</th><th scope="col">Reason</th><th scope="col">Ticket</th></tr></thead>
            <tbody>
            \(entries.map(row))
            </tbody></table></div>
            """
        return """
            <form class="filters" method="get" action="\(value: room.trail.text)">
            \(inputs)
            <p><button>Show</button></p>
            </form>
            \(table)
            \(Markup.more(older, "Older entries"))
            """
    }

    private func row(_ entry: JSON) -> Markup {
        let actor = entry["actor"]?.string ?? ""
        let name = entry["actor_name"]?.string.map { "\($0), \(actor)" } ?? actor
        let refused = entry["code"]?.string.map { ", refused: \($0)" } ?? ""
        let isSandbox = entry["environment"]?.string == Environment.sandbox.rawValue
        let customer: Markup =
            entry["customer"]?.string.map { name -> Markup in
                // An unclaimed purchase has no customer, and therefore no customer's page to link
                // to.
                if name.hasPrefix("$") { return .code(name) }
                return .link(NamedStream(room, name, isSandbox: isSandbox).place, name)
            } ?? .nothing
        return """
            <tr><td>\(Markup.time(entry["at"]?.string))</td><td>\(name)</td><td>\(entry["action"]?.string ?? "")\(refused)</td>
            <td>\(customer)</td><td>\(entry["reason"]?.string ?? "")</td><td>\(entry["ticket"]?.string ?? "")</td></tr>
            """
    }
}
