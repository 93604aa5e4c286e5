import API
import Core
import HTTPServer
import JSON

/// Does something in two steps: a form, then what it would change with one button that does it.
struct ActPage {
    private static let reasonNames = ["reason", "ticket"]

    private let act: Act
    private let stream: NamedStream
    /// The grant, the currency or the purchase in the address.
    private let subject: String?
    private let visit: Visit

    private var room: ProjectRoom { stream.room }

    init(_ act: Act, _ room: ProjectRoom, _ visit: Visit) throws(Turned) {
        guard act.isAllowed(in: room) else {
            throw .notice(
                403, "Your role does not permit this",
                "You are a \(room.role.rawValue) in \(room.project.text). Ask a person with another role."
            )
        }
        self.act = act
        self.visit = visit
        stream = try NamedStream(room, visit)
        subject = visit.arguments.count > 2 ? visit.arguments[2] : nil
    }

    /// The empty form, or with what the address fills in.
    func form() throws(Turned) -> Response { form(Fields(visit.query), trouble: nil).response() }

    /// Shows what would change, or does it.
    func answer() throws(Turned) -> Response {
        let fields = Fields(form: visit.body)
        do throws(Problem) {
            if fields["step"] == "do", let version = fields["version"] {
                _ = try room.send(call(fields, ("if_version", version), mark: fields["mark"]))
                // Of several versions, the first is this customer's.
                let own = version.split(separator: ",").first.map(String.init)
                return .seeOther(stream.place.with("done", own))
            }
            return comparison(try room.send(call(fields, ("dry_run", "1"))), fields).response()
        } catch {
            // It may have been done. Only the same mark makes another try count once.
            if error.status >= 500, fields["step"] == "do" {
                return again(fields).response(status: error.status, headers: error.headers)
            }
            return form(fields, trouble: error.sentenceForPeople)
                .response(status: error.status, headers: error.headers)
        }
    }

    private func call(
        _ fields: Fields, _ term: (name: String, value: String?), mark: String? = nil
    ) -> InnerCall {
        let target = Act.Target(
            customer: stream.customer, subject: subject ?? "", fields: fields)
        let body = act.body(target).with("reason", .string(fields.trimmed("reason") ?? ""))
            .with("ticket", fields.trimmed("ticket").map(JSON.string))
        return InnerCall(
            act.method, act.path(target), query: stream.query(term), body: body,
            idempotencyKey: mark.map { "console-\($0)" })
    }

    private var place: Place {
        let parts = act.pattern.split(separator: "/").map { part in
            part.hasPrefix("{") ? subject ?? "" : String(part)
        }
        let place = Place(["p", room.project.text, "customers", stream.customer] + parts)
        return stream.isSandbox ? place.with("environment", stream.environment) : place
    }

    private var about: Markup {
        let named: Markup = subject.map { ", <code>\($0)</code>" } ?? .nothing
        return """
            <p>Customer \(Markup.link(stream.place, stream.customer)) in \(stream.environment)\(named).</p>
            """
    }

    private func form(_ fields: Fields, trouble: String?) -> Page {
        let alert = Markup.alert(trouble)
        let isTicketRequired = room.role == .support
        let ticketHint =
            isTicketRequired ? "Your role needs one." : "The support case, if there is one."
        let inputs =
            act.fields + [
                Act.Field(name: "reason", label: "Reason", hint: "Why, in your own words."),
                Act.Field(
                    name: "ticket", label: "Ticket", hint: ticketHint,
                    isRequired: isTicketRequired),
            ]
        return page(
            """
            \(about)
            \(alert)
            <form class="card" method="post" action="\(value: place.text)">
            \(room.visitor.token)
            <input type="hidden" name="step" value="show">
            \(inputs.map { $0.markup(fields[$0.name]) })
            <p><button>Show what it changes</button> \(Markup.link(stream.place, "Back"))</p>
            </form>
            """)
    }

    private func comparison(_ answer: JSON, _ fields: Fields) -> Page {
        let sides = answer["customers"]?.array ?? []
        let versions = sides.compactMap { $0["version"]?.integer.map(String.init) }
        let ticket: Markup = fields.trimmed("ticket").map { " Ticket: \($0)." } ?? .nothing
        return page(
            """
            \(about)
            <p>Nothing was done yet. Reason: \(fields.trimmed("reason") ?? "").\(ticket)</p>
            \(sides.map { Comparison(side: $0).markup })
            \(lastStep(fields, version: versions.joined(separator: ","), mark: room.newMark()))
            """)
    }

    /// The last step once more, after an answer that does not tell whether it was done.
    private func again(_ fields: Fields) -> Page {
        page(
            """
            \(about)
            \(Markup.alert("Deed cannot say whether it was done. Press the button again in a moment: it counts once."))
            \(lastStep(fields, version: fields["version"] ?? "", mark: fields["mark"] ?? ""))
            """)
    }

    /// The button that does it, for the version that was looked at.
    private func lastStep(_ fields: Fields, version: String, mark: String) -> Markup {
        let names = act.fields.map(\.name) + ActPage.reasonNames
        let hidden: [Markup] = names.map { name in
            "<input type=\"hidden\" name=\"\(value: name)\" value=\"\(value: fields[name] ?? "")\">"
        }
        return """
            <form method="post" action="\(value: place.text)">
            \(room.visitor.token)
            <input type="hidden" name="step" value="do">
            <input type="hidden" name="version" value="\(value: version)">
            <input type="hidden" name="mark" value="\(value: mark)">
            \(hidden)
            <p><button>\(act.button)</button> \(Markup.link(stream.place, "Leave it"))</p>
            </form>
            """
    }

    private func page(_ content: Markup) -> Page {
        Page(title: act.title, visitor: room.visitor, room: room, content: content)
    }
}

extension Act.Field {
    /// The field with its label, filled with a value.
    fileprivate func markup(_ value: String?) -> Markup {
        let hintID = "\(name)-hint"
        let required: Markup = isRequired ? " required" : ""
        let described: Markup = hint.isEmpty ? "" : " aria-describedby=\"\(value: hintID)\""
        let hinted: Markup =
            hint.isEmpty ? "" : "<br><small id=\"\(value: hintID)\">\(hint)</small>"
        return """
            <p><label for="\(value: name)">\(label)</label>
            \(input(value, required, described))\(hinted)</p>
            """
    }

    private func input(_ value: String?, _ required: Markup, _ described: Markup) -> Markup {
        switch kind {
        case .text:
            return """
                <input id="\(value: name)" name="\(value: name)" maxlength="256" autocomplete="off" value="\(value: value ?? "")"\(required)\(described)>
                """
        case .whole:
            return """
                <input id="\(value: name)" name="\(value: name)" inputmode="numeric" maxlength="20" autocomplete="off" value="\(value: value ?? "")"\(required)\(described)>
                """
        case .choice(let choices):
            let options: [Markup] = choices.map { choice in
                let selected: Markup = choice.value == value ? " selected" : ""
                return """
                    <option value="\(value: choice.value)"\(selected)>\(choice.label)</option>
                    """
            }
            return """
                <select id="\(value: name)" name="\(value: name)"\(required)\(described)>
                \(options)
                </select>
                """
        }
    }
}
