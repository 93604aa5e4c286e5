import API
import Core
import HTTPServer
import JSON

/// A project's figures, each with a table, a file, and a sentence that explains what it counts.
struct FiguresPage: ShownPage {
    /// The maximum number of rows that the page shows for a figure.
    private static let rowLimit = 50

    private let room: ProjectRoom
    private let isSandbox: Bool
    private let answer: JSON

    init(_ room: ProjectRoom, _ visit: Visit) throws(Turned) {
        self.room = room
        let isSandbox = Fields(visit.query)["environment"] == Environment.sandbox.rawValue
        self.isSandbox = isSandbox
        answer = try turning { () throws(Problem) in
            try FiguresPage.answer(in: room, isSandbox: isSandbox)
        }
    }

    /// Returns the latest figures. Their `at` is `null` if there are none.
    static func answer(
        in room: ProjectRoom, isSandbox: Bool
    ) throws(Problem) -> JSON {
        let environment = (isSandbox ? Environment.sandbox : .production).rawValue
        return try room.send(
            InnerCall("GET", "/figures", query: "environment=\(environment)"))
    }

    func response() -> Response {
        let other = room.figures.with(
            "environment", isSandbox ? nil : Environment.sandbox.rawValue)
        return Page(
            title: "Figures", visitor: room.visitor, room: room,
            content: """
                \(Markup.environment(isSandbox: isSandbox, other: other))
                \(FiguresPage.asOf(answer))
                \(counted)
                """
        ).response()
    }

    /// Returns a sentence about when the figures were counted.
    static func asOf(_ answer: JSON) -> Markup {
        guard let at = answer["at"]?.string else {
            return "<p>Deed counts once an hour, and has not counted these customers yet.</p>"
        }
        return "<p>As of \(Markup.time(at)). Deed counts once an hour.</p>"
    }

    private var counted: Markup {
        if answer["at"]?.string == nil { return .nothing }
        return """
            <p>"A week ago" is \(Markup.time(answer["week_ago"]?.string)), based on what is known now. Sandbox purchases that count in production are not counted there.</p>
            \(Figure.all.map(section))
            \(unclaimed)
            <p>Figures by day and month come with a later release.</p>
            """
    }

    private func place(_ name: StaticString) -> Place {
        room.figures.below("\(name)")
            .with("environment", isSandbox ? Environment.sandbox.rawValue : nil)
    }

    private func section(_ figure: Figure) -> Markup {
        let rows = figure.rows(answer).prefix(FiguresPage.rowLimit)
        let cells = rows.map { row in
            zip(figure.columns, row).map { cell($0, $1) }
        }
        let total = figure.count?(answer)
        let count: Markup = total.map { "<p><strong>\(String($0))</strong></p>" } ?? .nothing
        let more: Markup =
            total ?? 0 > rows.count
            ? "<p>These are the first \(rows.count). The file has up to 1,000.</p>"
            : .nothing
        let title = "\(figure.title)"
        return .section(
            figure.name, figure.title,
            """
            <p>\(figure.sentence)</p>
            \(count)
            \(Markup.table(figure.columns, cells, ifEmpty: figure.empty))
            \(more)
            <p>\(Markup.link(place(figure.name), "\(title) as CSV"))</p>
            """)
    }

    private func cell(_ column: String, _ text: String) -> Markup {
        switch column {
        case "Customer" where !text.isEmpty:
            .link(NamedStream(room, text, isSandbox: isSandbox).place, text)
        case "Customer": "none"
        case "Ends", "Paid back": .time(text)
        case "Purchase", "Transaction": .code(text)
        default: .text(text)
        }
    }

    private var unclaimed: Markup {
        guard room.maySee("/unclaimed") else { return .nothing }
        let list = room.unclaimed.with(
            "environment", isSandbox ? Environment.sandbox.rawValue : nil)
        return .section(
            "unclaimed", "Unclaimed purchases",
            """
            <p>Purchases that the store has reported and no customer has claimed yet.</p>
            <p><strong>\(String(answer["unclaimed"]?.integer ?? 0))</strong></p>
            <p>\(Markup.link(list, "Purchases without a customer"))</p>
            <p>\(Markup.link(place("unclaimed"), "Unclaimed purchases as CSV"))</p>
            """)
    }
}

/// A figure as a file.
enum FigureFile {
    /// The maximum number of pages of unclaimed purchases in one file.
    private static let pages = 10

    static func response(_ room: ProjectRoom, _ visit: Visit) throws(Turned) -> Response {
        let isSandbox = Fields(visit.query)["environment"] == Environment.sandbox.rawValue
        let name = visit.arguments[1]
        if name == "unclaimed" {
            let text = try turning { () throws(Problem) in
                try unclaimed(room, isSandbox: isSandbox)
            }
            return file(name, text)
        }
        guard let figure = Figure.all.first(where: { "\($0.name)" == name }) else {
            throw .notice(404, "Nothing here", "There is no such figure.")
        }
        let answer = try turning { () throws(Problem) in
            try FiguresPage.answer(in: room, isSandbox: isSandbox)
        }
        guard answer["at"]?.string != nil else {
            throw .notice(404, "Nothing counted yet", "Deed counts the figures once an hour.")
        }
        return file(name, figure.file(answer))
    }

    private static func file(_ name: String, _ text: String) -> Response {
        Response(
            status: 200,
            headers: [
                Header("Content-Type", "text/csv; charset=utf-8"),
                Header("Content-Disposition", "attachment; filename=\"\(name).csv\""),
            ] + Page.guards, body: Array(text.utf8))
    }

    private static func unclaimed(
        _ room: ProjectRoom, isSandbox: Bool
    ) throws(Problem) -> String {
        let environment = (isSandbox ? Environment.sandbox : .production).rawValue
        var (rows, next): ([[String]], String?) = ([], nil)
        for _ in 0..<pages {
            let after = next.map { "&after=\(percentEncoded($0))" } ?? ""
            let answer = try room.send(
                InnerCall(
                    "GET", "/unclaimed", query: "environment=\(environment)&limit=100\(after)"))
            rows += (answer["purchases"]?.array ?? []).map { purchase in
                ["purchase", "product", "purchased", "expires", "since"].map {
                    purchase[$0]?.string ?? ""
                }
            }
            next = answer["next"]?.string
            if next == nil { break }
        }
        return Figure.file(
            ["Purchase", "Product", "Bought", "Paid until", "Waiting since"], rows)
    }
}
