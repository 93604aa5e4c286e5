import API
import Core
import HTTPServer
import JSON

/// The search results for the text in the search box.
struct FindPage: ShownPage {
    private let room: ProjectRoom
    private let words: String
    private let answer: JSON?

    init(_ room: ProjectRoom, _ visit: Visit) throws(Turned) {
        self.room = room
        let words = Fields(visit.query).trimmed("q") ?? ""
        self.words = words
        if words.isEmpty {
            answer = nil
        } else {
            answer = try turning { () throws(Problem) in
                try room.send(InnerCall("GET", "/find", query: "q=\(percentEncoded(words))"))
            }
        }
    }

    private var matches: [JSON] { answer?["matches"]?.array ?? [] }

    /// Returns the list of matches. If there is a single exact match, redirects to that customer's page.
    func response() throws(Turned) -> Response {
        let customers = Set(matches.map { $0["customer"]?.string ?? "" })
        let isWhole = answer?["more"]?.bool == false
        if isWhole, matches.count == 1, customers.first?.isEmpty == false, let match = matches.first
        {
            return .seeOther(place(of: match))
        }
        return Page(
            title: "Find", visitor: room.visitor, room: room, sought: words, content: content
        ).response()
    }

    private func place(of match: JSON) -> Place {
        let isSandbox = match["environment"]?.string == Environment.sandbox.rawValue
        return NamedStream(room, match["customer"]?.string ?? "", isSandbox: isSandbox).place
    }

    private var content: Markup {
        if answer == nil { return "<p>Enter a search term.</p>" }
        if matches.isEmpty {
            return """
                <p class="notice">Nothing in the project is called \(Markup.text(words)) or begins with it.</p>
                <p>Check the spelling. If it is an order number from a store's e-mail, which begins with M or GPA, ask the store: deed find NUMBER --ask-store</p>
                """
        }
        let more: Markup =
            answer?["more"]?.bool == true
            ? "<p>There are more matches; type more of the name.</p>" : .nothing
        return """
            <div class="wide"><table>
            <thead><tr><th scope="col">Customer</th><th scope="col">Environment</th><th scope="col">Found by</th><th scope="col">Product</th></tr></thead>
            <tbody>
            \(matches.map(row))
            </tbody></table></div>
            \(more)
            """
    }

    private func row(_ match: JSON) -> Markup {
        let customer: Markup =
            match["customer"]?.string.map { Markup.link(place(of: match), $0) }
            ?? unclaimed(match)
        let kind = (match["kind"]?.string ?? "").spaced
        return """
            <tr><th scope="row">\(customer)</th><td>\(match["environment"]?.string ?? "")</td>
            <td>\(kind) <code>\(match["id"]?.string ?? "")</code></td><td>\(match["product"]?.string ?? "")</td></tr>
            """
    }

    private func unclaimed(_ match: JSON) -> Markup {
        let purchase = match["purchase"]?.string ?? ""
        let isSandbox = match["environment"]?.string == Environment.sandbox.rawValue
        return """
            No customer has claimed it. \(AttachPlace.form(purchase, in: room, isSandbox: isSandbox))
            """
    }
}
