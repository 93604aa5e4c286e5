import API
import HTTPServer
import JSON

/// The two steps that replace the catalog: first its text, then a preview of the changes with a button that makes them.
struct CatalogEditPage: FormPage {
    /// The size limit of an encoded form, where a quote takes three bytes.
    static let bodyLimit = 1 << 20

    private static let reasons = [Act.Field.reason, .ticket]

    private let room: ProjectRoom
    private let visit: Visit

    private var place: Place { room.catalog.below("edit") }

    init(_ room: ProjectRoom, _ visit: Visit) throws(Turned) {
        guard room.calls.allows("POST", "/catalog/changes", to: room.role) else {
            throw .role(of: room)
        }
        self.room = room
        self.visit = visit
    }

    /// Returns a form with the text of the current catalog, or of an earlier one.
    func form() throws(Turned) -> Response {
        let earlier = Fields(visit.query)["from"]
        let path = earlier.map { "/catalog/changes/\(percentEncoded($0))" } ?? "/catalog"
        let answer = try turning { () throws(Problem) in try room.send(InnerCall("GET", path)) }
        let words: Markup =
            earlier == nil
            ? .nothing
            : "<p class=\"notice\">This is the catalog at version \(String(answer["version"]?.integer ?? 0)). Nothing has been done yet.</p>"
        return writing(answer["catalog"]?.prettyText ?? "", words, nil).response()
    }

    /// Shows what changes the text would make, or replaces the catalog with it.
    func answer() throws(Turned) -> Response {
        let fields = Fields(form: visit.body)
        // A form sends two characters at the end of each line.
        let text = (fields["text"] ?? "").replacing("\r\n", with: "\n")
        do throws(Problem) {
            if fields["step"] == "do", let version = fields["version"] {
                let answer = try room.send(change(text, fields, version))
                let done = String(answer["version"]?.integer ?? 0)
                return .seeOther(room.catalog.with("done", done))
            }
            let step = try room.send(
                InnerCall(
                    "POST", "/catalog/changes", query: "dry_run=1", body: ["text": .string(text)]))
            return ready(step, text, fields, nil).response()
        } catch {
            return again(error, text, fields)
        }
    }

    private func change(_ text: String, _ fields: Fields, _ version: String) -> InnerCall {
        let body: JSON = [
            "text": .string(text), "reason": .string(fields.trimmed("reason") ?? ""),
        ]
        return InnerCall(
            "POST", "/catalog/changes", query: "if_version=\(percentEncoded(version))",
            body: body.with("ticket", fields.trimmed("ticket").map(JSON.string)),
            idempotencyKey: fields["mark"].map { "console-\($0)" })
    }

    /// Shows the text again with the problems in it. If the answer leaves open whether the catalog was replaced, shows
    /// the last step again. If that step is sent twice, it takes effect once.
    private func again(_ problem: Problem, _ text: String, _ fields: Fields) -> Response {
        if problem.status >= 500, fields["step"] == "do" {
            let trouble: Markup =
                "Deed cannot tell whether this was done. Press the button again in a moment: it counts only once."
            return page(last(text, fields["version"] ?? "", fields, trouble))
                .response(status: problem.status, headers: problem.headers)
        }
        let errors: [Markup] = problem.errors.prefix(100).map { "<li>\($0)</li>" }
        let list: Markup = errors.isEmpty ? .nothing : "<ul>\(errors)</ul>"
        return writing(text, list, problem.told(in: room))
            .response(status: problem.status, headers: problem.headers)
    }

    private func page(_ content: Markup) -> Page {
        Page(title: "Edit the catalog", visitor: room.visitor, room: room, content: content)
    }

    private func writing(_ text: String, _ words: Markup, _ trouble: Markup?) -> Page {
        page(
            """
            \(Markup.alert(trouble))
            \(words)
            <form class="card" method="post" action="\(value: place.text)">
            \(room.visitor.token)
            \(Markup.hidden([("step", "show")]))
            <p><label for="text">The whole catalog, as the file of <code>deed catalog apply</code></label>
            <textarea id="text" name="text" rows="30" spellcheck="false" required aria-describedby="text-hint">\(value: text)</textarea>
            <br><small id="text-hint">JSON. A form can hold about half a megabyte; use the command line for a larger catalog.</small></p>
            <p class="acts"><button>Show what it changes</button> \(Markup.link(room.catalog, "Back"))</p>
            </form>
            """)
    }

    private func ready(_ step: JSON, _ text: String, _ fields: Fields, _ trouble: Markup?) -> Page {
        let version = String(step["version"]?.integer ?? 0)
        let changes = step["changes"]?.array ?? []
        if changes.isEmpty {
            let words: Markup =
                "<p class=\"notice\">Nothing would change: this is version \(version).</p>"
            return writing(text, words, nil)
        }
        return page(
            """
            <p>Nothing has been done yet. The catalog is now version \(version).</p>
            \(CatalogStepPart(step: step, room: room).markup)
            \(last(text, version, fields, trouble))
            """)
    }

    /// Returns the form whose button replaces the catalog with the previewed version.
    private func last(
        _ text: String, _ version: String, _ fields: Fields, _ trouble: Markup?
    ) -> Markup {
        """
        \(Markup.alert(trouble))
        <form class="card" method="post" action="\(value: place.text)">
        \(room.visitor.token)
        \(Markup.hidden([
            ("step", "do"), ("version", version), ("text", text),
            ("mark", fields["mark"] ?? room.newMark()),
        ]))
        \(CatalogEditPage.reasons.map { $0.markup(fields[$0.name]) })
        <p class="acts"><button>Replace the catalog</button> \(Markup.link(room.catalog, "Leave it"))</p>
        </form>
        """
    }
}
