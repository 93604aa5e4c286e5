import API
import Core
import HTTPServer
import JSON

/// The list of queued and judged evidence.
struct IntakePage: ShownPage {
    private static let states = ["waiting", "refused", "believed", "settled", "dropped"]

    private let room: ProjectRoom
    private let state: String
    private let answer: JSON

    init(_ room: ProjectRoom, _ visit: Visit) throws(Turned) {
        self.room = room
        let fields = Fields(visit.query)
        let asked = fields["state"] ?? ""
        let state = IntakePage.states.contains(asked) ? asked : "waiting"
        self.state = state
        let after = fields["after"].map { "&after=\(percentEncoded($0))" } ?? ""
        answer = try turning { () throws(Problem) in
            try room.send(InnerCall("GET", "/intake", query: "state=\(state)\(after)"))
        }
    }

    func response() -> Response {
        let items = answer["items"]?.array ?? []
        let links: [Markup] = IntakePage.states.map { name in
            name == state
                ? "<strong>\(name)</strong>" : .link(room.intake.with("state", name), name)
        }
        let next = answer["next"]?.string.map {
            room.intake.with("state", state).with("after", $0)
        }
        let table = Markup.table(
            ["Intake", "Customer", "Kind", "Tries", "Next try", "Why", "Came"], items.map(row),
            ifEmpty: "No evidence is in this state.")
        return Page(
            title: "Intake", visitor: room.visitor, room: room,
            content: """
                <p>Evidence from stores or customers that could not be judged immediately.</p>
                <nav class="acts" aria-label="States">\(links)</nav>
                \(table)
                \(Markup.more(next, "The next ones"))
                """
        ).response()
    }

    private func row(_ item: JSON) -> [Markup] {
        let id = item["intake"]?.string ?? ""
        return [
            .link(room.intake.below(id), id), IntakePage.customer(of: item, in: room),
            .text((item["kind"]?.string ?? "").spaced),
            .text(String(item["tries"]?.integer ?? 0)), .time(item["next_try_at"]?.string),
            "\(timed: item["detail"]?.string ?? "")", .time(item["added_at"]?.string),
        ]
    }

    static func customer(of item: JSON, in room: ProjectRoom) -> Markup {
        guard let customer = item["customer"]?.string else { return "none" }
        let isSandbox = item["environment"]?.string == Environment.sandbox.rawValue
        return .link(NamedStream(room, customer, isSandbox: isSandbox).place, customer)
    }
}

/// A queued item, and the decisions that a person can make about it.
struct IntakeItemPage: ShownPage {
    /// The buttons, with an explanation of what each one does.
    private static let acts: [(name: String, button: String, words: StaticString)] = [
        ("retry", "Judge it again", "Deed judges it now, like new evidence."),
        (
            "settle", "Settle it",
            "The matter was resolved in another way, such as by a grant. Deed will not judge the evidence again."
        ),
        ("drop", "Drop it", "The evidence should have no effect. Deed will not judge it again."),
    ]

    private let room: ProjectRoom
    private let id: String
    private let visit: Visit

    /// Takes the item from the second argument in the page's address.
    init(_ room: ProjectRoom, _ visit: Visit) throws(Turned) {
        let path = "/intake/x/settle"
        guard room.calls.allows("POST", path, to: room.role) else { throw .role(of: room) }
        self.room = room
        self.visit = visit
        id = visit.arguments[1]
    }

    func response() throws(Turned) -> Response {
        try response(Fields(""), trouble: nil, status: 200)
    }

    /// Performs the act whose button was pressed.
    func act() throws(Turned) -> Response {
        let fields = Fields(form: visit.body)
        guard let act = IntakeItemPage.acts.first(where: { $0.name == fields["act"] }) else {
            throw .notice(
                400, "That does not work", "The form names no known action.")
        }
        let body: JSON = ["reason": .string(fields.trimmed("reason") ?? "")]
        let call = InnerCall(
            "POST", "/intake/\(percentEncoded(id))/\(act.name)",
            body: body.with("ticket", fields.trimmed("ticket").map(JSON.string)))
        do throws(Problem) {
            _ = try room.send(call)
            return .seeOther(room.intake.below(id))
        } catch {
            return try response(fields, trouble: error.told(in: room), status: error.status)
        }
    }

    private func response(
        _ fields: Fields, trouble: Markup?, status: Int
    ) throws(Turned) -> Response {
        let item = try turning { () throws(Problem) in
            try room.send(InnerCall("GET", "/intake/\(percentEncoded(id))"))
        }
        return Page(
            title: "Intake \(id)", visitor: room.visitor, room: room,
            content: """
                \(Markup.alert(trouble))
                \(about(item))
                \(results(item))
                \(form(fields))
                """
        ).response(status: status)
    }

    private func about(_ item: JSON) -> Markup {
        let actor = item["acted_by_name"]?.string ?? item["acted_by"]?.string ?? ""
        return .terms([
            ("State", .text(item["state"]?.string ?? "")),
            ("Customer", IntakePage.customer(of: item, in: room)),
            ("Environment", .text(item["environment"]?.string ?? "")),
            ("App", .text(item["app"]?.string ?? "")),
            ("Kind", .text((item["kind"]?.string ?? "").spaced)),
            ("Order", .text(item["order"]?.string ?? "")),
            ("Tries", .text(String(item["tries"]?.integer ?? 0))),
            ("Next try", .time(item["next_try_at"]?.string)),
            ("Why", "\(timed: item["detail"]?.string ?? "")"),
            ("Decided by", .text(actor)), ("Reason", .text(item["reason"]?.string ?? "")),
            ("Ticket", .text(item["ticket"]?.string ?? "")),
            ("Came", .time(item["added_at"]?.string)),
            ("Changed", .time(item["changed_at"]?.string)),
        ])
    }

    private func results(_ item: JSON) -> Markup {
        let rows = (item["items"]?.array ?? []).map { result -> [Markup] in
            [
                .code(result["purchase"]?.string), .text((result["outcome"]?.string ?? "").spaced),
                "\(timed: result["detail"]?.string ?? "")",
            ]
        }
        return rows.isEmpty
            ? .nothing
            : .section("results", "What it states", .table(["Purchase", "Outcome", "Why"], rows))
    }

    private func form(_ fields: Fields) -> Markup {
        let inputs = [Act.Field.reason, .ticket]
        let buttons: [Markup] = IntakeItemPage.acts.map { act in
            """
            <p><button name="act" value="\(value: act.name)">\(act.button)</button> <small>\(Markup(stringLiteral: act.words))</small></p>
            """
        }
        return .section(
            "deciding", "Decide",
            """
            <form class="card" method="post" action="\(value: room.intake.below(id).text)">
            \(room.visitor.token)
            \(inputs.map { $0.markup(fields[$0.name]) })
            \(buttons)
            </form>
            """)
    }
}
