import API
import Core
import HTTPServer
import JSON

/// The page that erases a person. It first shows what an erasure would remove, with a button that erases the person
/// permanently.
struct ErasePage: FormPage {
    static let title = "Erase the person"
    private static let treatments: [(value: String, label: String)] = [
        ("forget", "never have a holder again"),
        ("free", "belong to the next customer who proves them"),
    ]

    private let stream: NamedStream
    private let visit: Visit

    private var room: ProjectRoom { stream.room }

    static func isAllowed(in room: ProjectRoom) -> Bool {
        room.calls.allows("POST", "/customers/x/erase", to: room.role)
    }

    /// Takes the customer from the second argument in the page's address.
    init(_ room: ProjectRoom, _ visit: Visit) throws(Turned) {
        guard ErasePage.isAllowed(in: room) else { throw .role(of: room) }
        stream = try NamedStream(room, visit)
        self.visit = visit
    }

    func form() throws(Turned) -> Response {
        let fields = Fields(visit.query)
        return try look(fields, treatment(in: fields), trouble: nil, status: 200)
    }

    /// Erases the person, if the form confirms it and nothing has changed since the preview.
    func answer() throws(Turned) -> Response {
        let fields = Fields(form: visit.body)
        let treatment = treatment(in: fields)
        guard fields.trimmed("id") == stream.customer else {
            return try look(
                fields, treatment,
                trouble: "Nothing was erased: the id that you entered is not the customer's.",
                status: 400)
        }
        var body = body(
            treatment, reason: fields.trimmed("reason") ?? "", ticket: fields.trimmed("ticket"))
        body = body.with("intent", .string(fields["intent"] ?? ""))
        do throws(Problem) {
            _ = try room.send(
                InnerCall(
                    "POST", stream.path("/erase"), body: body,
                    idempotencyKey: fields["mark"].map { "console-\($0)" }))
            return .seeOther(stream.place.with("done", fields["version"]))
        } catch {
            return try look(
                fields, treatment, trouble: error.told(in: room), status: error.status)
        }
    }

    private func treatment(in fields: Fields) -> String {
        fields["purchases"] == "free" ? "free" : "forget"
    }

    private func body(_ treatment: String, reason: String, ticket: String?) -> JSON {
        let body: JSON = ["purchases": .string(treatment), "reason": .string(reason)]
        return body.with("ticket", ticket.map(JSON.string))
    }

    private func look(
        _ fields: Fields, _ treatment: String, trouble: Markup?, status: Int
    ) throws(Turned) -> Response {
        let body = body(treatment, reason: "to see what would be erased", ticket: "none yet")
        let answer = try turning { () throws(Problem) in
            try room.send(InnerCall("POST", stream.path("/erase"), body: body))
        }
        return Page(
            title: ErasePage.title, visitor: room.visitor, room: room,
            content: content(answer, fields, treatment, trouble)
        ).response(status: status)
    }

    private func content(
        _ answer: JSON, _ fields: Fields, _ treatment: String, _ trouble: Markup?
    ) -> Markup {
        let sides = answer["environments"]?.array ?? []
        let own = sides.first {
            $0["environment"]?.string == stream.environment && $0["customer"] == nil
        }
        let other = treatment == "free" ? "forget" : "free"
        let words = ErasePage.treatments.first { $0.value == treatment }?.label ?? ""
        let others = ErasePage.treatments.first { $0.value == other }?.label ?? ""
        return """
            <p>Customer \(Markup.link(stream.place, stream.customer)), in both environments.</p>
            \(Markup.alert(trouble))
            <p>Nothing has been done yet. What is erased cannot be brought back.</p>
            <p>The purchases will \(words). \(Markup.link(stream.below("erase").with("purchases", other), "Let them \(others) instead"))</p>
            \(sides.map(side))
            <form class="card" method="post" action="\(value: stream.below("erase").text)">
            \(room.visitor.token)
            \(Markup.hidden([
                ("purchases", treatment), ("intent", answer["intent"]?.string ?? ""),
                ("version", own?["version"]?.integer.map(String.init) ?? ""),
                ("mark", room.newMark()),
            ]))
            \(ErasePage.inputs.map { $0.markup(fields[$0.name]) })
            <p class="acts"><button class="danger">Erase for ever</button> \(Markup.link(stream.place, "Cancel"))</p>
            </form>
            """
    }

    private static let inputs = [
        Act.Field(name: "id", label: "The customer's id", hint: "Type the full id to confirm."),
        .reason,
        Act.Field(
            name: "ticket", label: "Ticket", hint: "The support case, if any.",
            isRequired: false),
    ]

    private func side(_ side: JSON) -> Markup {
        let goes = (side["goes"]?.object?.members ?? []).filter { ($0.value.integer ?? 0) > 0 }
        let rows = goes.map { member -> [Markup] in
            [.text(member.name.spaced), .text(String(member.value.integer ?? 0))]
        }
        func list(_ name: String) -> Markup {
            .text((side[name]?.array ?? []).compactMap(\.string).joined(separator: ", "))
        }
        let terms: [(String, Markup)] = [
            ("Access that ends", list("ending")),
            ("The store keeps charging for", list("renewing")),
            ("Purchases came from", list("came_from")),
        ]
        let customer = side["customer"]?.string.map { "\($0), " } ?? ""
        return """
            <h2>\(customer)\(side["environment"]?.string ?? "")</h2>
            \(Markup.terms(terms))
            \(Markup.table(["What goes", "How many"], rows))
            """
    }
}
