import API
import Core
import HTTPServer
import JSON

/// The two steps of an act: first a form, then a preview of the changes with a button that makes them.
struct ActPage {
    private static let reasonNames = ["reason", "ticket"]

    private let act: Act
    private let stream: NamedStream
    /// The grant, currency or purchase in the address.
    private let subject: String?
    private let visit: Visit

    private var room: ProjectRoom { stream.room }

    init(_ act: Act, _ room: ProjectRoom, _ visit: Visit) throws(Turned) {
        guard act.isAllowed(in: room) else { throw .role(of: room) }
        self.act = act
        self.visit = visit
        stream = try NamedStream(room, visit)
        subject = visit.arguments.count > 2 ? visit.arguments[2] : nil
    }

    /// The reason and ticket that a preview sends. Deed never records them.
    private static let looking: [(name: String, value: String)] = [
        ("reason", "to see what it would change"), ("ticket", "none yet"),
    ]

    /// Returns the form with values from the address, or the preview if all fields are filled in.
    func form() throws(Turned) -> Response {
        let fields = Fields(visit.query)
        guard act.unrehearsed == nil, act.isSaid(by: fields) else {
            return form(fields, trouble: nil).response()
        }
        do throws(Problem) {
            let call = call(fields.with(ActPage.looking), ("dry_run", "1"))
            return ready(try room.send(call), fields).response()
        } catch {
            return form(fields, trouble: error.told(in: room))
                .response(status: error.status, headers: error.headers)
        }
    }

    /// Shows what the act would change, or performs it.
    func answer() throws(Turned) -> Response {
        let fields = Fields(form: visit.body)
        do throws(Problem) {
            if act.unrehearsed != nil {
                _ = try room.send(call(fields, ("dry_run", nil), mark: fields["mark"]))
                return .seeOther(stream.place.with("done", fields["version"]))
            }
            if fields["step"] == "do", let version = fields["version"] {
                _ = try room.send(call(fields, ("if_version", version), mark: fields["mark"]))
                return .seeOther(stream.place.with("done", fields["seen"]))
            }
            return comparison(try room.send(call(fields, ("dry_run", "1"))), fields).response()
        } catch {
            // The action may have been performed, so only a repetition with the same mark is safe.
            if error.status >= 500, fields["step"] == "do", act.unrehearsed == nil {
                return again(fields).response(status: error.status, headers: error.headers)
            }
            // A mark belongs to the content that was sent with it, so different content needs a new
            // mark.
            let kept = error.status >= 500 ? fields : fields.with([("mark", "")])
            return form(kept, trouble: error.told(in: room))
                .response(status: error.status, headers: error.headers)
        }
    }

    private func call(
        _ fields: Fields, _ term: (name: String, value: String?), mark: String? = nil
    ) -> InnerCall {
        let target = Act.Target(
            customer: stream.customer, subject: subject ?? "", fields: fields)
        let words = fields.trimmed(act.words.name) ?? ""
        let body = act.body(target).with(act.words.name, .string(words))
            .with("ticket", fields.trimmed("ticket").map(JSON.string))
        return InnerCall(
            act.method, act.path(target),
            query: stream.query(term, isOfBoth: act.isOfBoth), body: body,
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
        let side = act.isOfBoth ? "both environments, production and sandbox" : stream.environment
        return """
            <p>Customer \(Markup.link(stream.place, stream.customer)) in \(side)\(named).</p>
            """
    }

    /// The fields for the reason and the ticket.
    private var reasons: [Act.Field] {
        if room.role != .support { return [act.words, .ticket] }
        return [
            act.words,
            Act.Field(name: "ticket", label: "Ticket", hint: "Your role needs a ticket."),
        ]
    }

    private func form(_ fields: Fields, trouble: Markup?) -> Page {
        let alert = Markup.alert(trouble)
        let inputs = act.fields + reasons
        let button = act.unrehearsed == nil ? "Show what it changes" : act.button
        let warning: Markup = act.unrehearsed.map { "<p>\($0)</p>" } ?? .nothing
        let mark: Markup =
            act.unrehearsed == nil
            ? .nothing
            : .hidden([
                ("mark", fields["mark"] ?? room.newMark()), ("version", fields["version"] ?? ""),
            ])
        return page(
            """
            \(about)
            \(alert)
            \(warning)
            <form class="card" method="post" action="\(value: place.text)">
            \(room.visitor.token)
            <input type="hidden" name="step" value="show">
            \(mark)
            \(inputs.map { $0.markup(fields[$0.name]) })
            <p class="acts"><button>\(button)</button> \(Markup.link(stream.place, "Back"))</p>
            </form>
            """)
    }

    /// Returns a preview of the changes, with the form that makes them below.
    private func ready(_ answer: JSON, _ fields: Fields) -> Page {
        let sides = answer["customers"]?.array ?? []
        let said: [Markup] = act.fields.map { field in
            "<div><dt>\(field.label)</dt><dd>\(field.said(fields[field.name]))</dd></div>"
        }
        let terms: Markup = said.isEmpty ? .nothing : "<dl>\(said)</dl>"
        return page(
            """
            \(about)
            \(terms)
            <p>Nothing has been done yet.</p>
            \(sides.map { Comparison(side: $0).markup })
            <form class="card" method="post" action="\(value: place.text)">
            \(room.visitor.token)
            \(last(sides.versions, seen: sides.version(of: stream), mark: room.newMark()))
            \(Markup.hidden(act.fields.map { ($0.name, fields[$0.name] ?? "") }))
            \(reasons.map { $0.markup(fields[$0.name]) })
            <p class="acts"><button>\(act.button)</button> \(Markup.link(stream.place, "Cancel"))</p>
            </form>
            """)
    }

    private func comparison(_ answer: JSON, _ fields: Fields) -> Page {
        let sides = answer["customers"]?.array ?? []
        let ticket: Markup = fields.trimmed("ticket").map { " Ticket: \($0)." } ?? .nothing
        return page(
            """
            \(about)
            <p>Nothing has been done yet. Reason: \(fields.trimmed("reason") ?? "").\(ticket)</p>
            \(sides.map { Comparison(side: $0).markup })
            \(lastStep(fields, last(sides.versions, seen: sides.version(of: stream), mark: room.newMark())))
            """)
    }

    /// Shows the last step again if the answer leaves open whether the act was performed.
    private func again(_ fields: Fields) -> Page {
        page(
            """
            \(about)
            \(Markup.alert("Deed cannot tell whether this was done. Press the button again in a moment: it still counts only once."))
            \(lastStep(fields, last(fields["version"] ?? "", seen: fields["seen"] ?? "", mark: fields["mark"] ?? "")))
            """)
    }

    /// Returns the hidden fields of the last step: the versions in the preview, and this customer's
    /// version.
    private func last(_ versions: String, seen: String, mark: String) -> Markup {
        .hidden([("step", "do"), ("version", versions), ("seen", seen), ("mark", mark)])
    }

    /// Returns the form with the button that performs the act on the previewed version.
    private func lastStep(_ fields: Fields, _ hidden: Markup) -> Markup {
        let names = act.fields.map(\.name) + ActPage.reasonNames
        return """
            <form method="post" action="\(value: place.text)">
            \(room.visitor.token)
            \(hidden)
            \(Markup.hidden(names.map { ($0, fields[$0] ?? "") }))
            <p class="acts"><button>\(act.button)</button> \(Markup.link(stream.place, "Cancel"))</p>
            </form>
            """
    }

    private func page(_ content: Markup) -> Page {
        Page(title: act.title, visitor: room.visitor, room: room, content: content)
    }
}

extension [JSON] {
    /// The versions of the customers in a dry run, in the form that a call accepts. A call about both environments
    /// accepts only the first environment's versions.
    fileprivate var versions: String {
        filter { $0["environment"] == first?["environment"] }
            .compactMap { $0["version"]?.integer.map(String.init) }.joined(separator: ",")
    }

    fileprivate func version(of stream: NamedStream) -> String {
        let own = first {
            $0["customer"]?.string == stream.customer
                && $0["environment"]?.string == stream.environment
        }
        return own?["version"]?.integer.map(String.init) ?? "0"
    }
}
