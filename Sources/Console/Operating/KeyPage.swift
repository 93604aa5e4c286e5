import API
import HTTPServer
import JSON

/// The page that revokes a key: a description of the key, and a button.
struct KeyPage: FormPage {
    private static let inputs = [Act.Field.reason, .ticket]

    private let room: ProjectRoom
    private let id: String
    private let visit: Visit

    /// Takes the key's id from the second argument in the page's address.
    init(_ room: ProjectRoom, _ visit: Visit) throws(Turned) {
        guard room.calls.allows("POST", "/keys/x/revoke", to: room.role) else {
            throw .role(of: room)
        }
        self.room = room
        self.visit = visit
        id = visit.arguments[1]
    }

    func form() throws(Turned) -> Response {
        try form(Fields(""), trouble: nil, status: 200)
    }

    /// Revokes the key. Does nothing if it is already revoked.
    func answer() throws(Turned) -> Response {
        let fields = Fields(form: visit.body)
        let body: JSON = ["reason": .string(fields.trimmed("reason") ?? "")]
        let call = InnerCall(
            "POST", "/keys/\(percentEncoded(id))/revoke",
            body: body.with("ticket", fields.trimmed("ticket").map(JSON.string)),
            idempotencyKey: fields["mark"].map { "console-\($0)" })
        do throws(Problem) {
            _ = try room.send(call)
            return .seeOther(room.settings.with("revoked", id))
        } catch {
            return try form(fields, trouble: error.told(in: room), status: error.status)
        }
    }

    private func form(
        _ fields: Fields, trouble: Markup?, status: Int
    ) throws(Turned) -> Response {
        let key = try turning { () throws(Problem) in
            try room.send(InnerCall("GET", "/keys/\(percentEncoded(id))"))
        }
        return Page(
            title: "Revoke a key", visitor: room.visitor, room: room,
            content: """
                \(Markup.alert(trouble))
                \(about(key))
                \(key["state"]?.string == "revoked" ? over : revoking(fields))
                """
        ).response(status: status)
    }

    private func about(_ key: JSON) -> Markup {
        .terms([
            ("Key", .code(id)), ("Role", .text(key["role"]?.string ?? "")),
            ("Name", .text(key["name"]?.string ?? "")),
            ("Environment", .text(key["environment"]?.string ?? "both")),
            ("State", .text(key["state"]?.string ?? "")),
            ("Made", .time(key["created_at"]?.string)), ("Ends", .time(key["expires_at"]?.string)),
            ("Revoked", .time(key["revoked_at"]?.string)),
            ("Last used, to the hour", .time(key["last_used_at"]?.string)),
        ])
    }

    private var over: Markup {
        "<p>The key no longer works. \(Markup.link(room.settings, "Back"))</p>"
    }

    private func revoking(_ fields: Fields) -> Markup {
        """
        <p>Nothing has been done yet. Within a second after you press the button, every call with the key is refused. A revoked key cannot be restored: an operator can create a new one with <code>deed key create</code>.</p>
        <form class="card" method="post" action="\(value: room.settings.below("keys", id, "revoke").text)">
        \(room.visitor.token)
        \(Markup.hidden([("mark", fields["mark"] ?? room.newMark())]))
        \(KeyPage.inputs.map { $0.markup(fields[$0.name]) })
        <p class="acts"><button class="danger">Revoke it for ever</button> \(Markup.link(room.settings, "Leave it"))</p>
        </form>
        """
    }
}
