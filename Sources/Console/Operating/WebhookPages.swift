import API
import Core
import HTTPServer
import JSON

/// A project's webhooks.
struct WebhooksPage {
    private let room: ProjectRoom
    private let answer: JSON

    init(_ room: ProjectRoom) throws(Turned) {
        self.room = room
        answer = try turning { () throws(Problem) in
            try room.send(InnerCall("GET", "/webhooks"))
        }
    }

    func response() -> Response {
        let all = answer["webhooks"]?.array ?? []
        let content = Markup.table(
            ["Webhook", "State", "URL", "Environment", "Waiting", "Parked", "Oldest"], all.map(row),
            ifEmpty:
                "There are no webhooks. An operator can add one with: <code>deed webhook create --url https://…</code>"
        )
        return Page(title: "Webhooks", visitor: room.visitor, room: room, content: content)
            .response()
    }

    private func row(_ webhook: JSON) -> [Markup] {
        let id = webhook["id"]?.string ?? ""
        return [
            .link(room.webhooks.below(id), id), .state(of: webhook),
            .text(webhook["url"]?.string ?? ""), .text(webhook["environment"]?.string ?? ""),
            .text(String(webhook["waiting"]?.integer ?? 0)),
            .text(String(webhook["parked"]?.integer ?? 0)),
            .time(webhook["oldest_at"]?.string),
        ]
    }
}

extension Markup {
    fileprivate static func state(of webhook: JSON) -> Markup {
        let state = webhook["state"]?.string ?? ""
        return .badge(state, isGood: state == "active")
    }
}

/// A webhook: its attempts, the waiting messages, and buttons for its acts.
struct WebhookPage {
    /// The buttons, named after the last parts of their addresses.
    static let acts: [(name: String, button: String)] = [
        ("pause", "Pause it"), ("resume", "Resume it"), ("test", "Send an example"),
        ("replay", "Send again"),
    ]
    private static let pageSize = 50

    private let room: ProjectRoom
    private let id: String
    private let fields: Fields
    private let webhook: JSON
    private let deliveries: JSON

    /// Takes the webhook from the second argument in the page's address.
    init(_ room: ProjectRoom, _ visit: Visit) throws(Turned) {
        try self.init(room, visit.arguments[1], Fields(visit.query))
    }

    private init(_ room: ProjectRoom, _ id: String, _ fields: Fields) throws(Turned) {
        self.room = room
        self.id = id
        self.fields = fields
        let path = "/webhooks/\(percentEncoded(id))"
        let query = ["before", "customer"].compactMap { name in
            fields.trimmed(name).map { "\(name)=\(percentEncoded($0))" }
        }
        let whole = (query + ["limit=\(WebhookPage.pageSize)"]).joined(separator: "&")
        webhook = try turning { () throws(Problem) in try room.send(InnerCall("GET", path)) }
        deliveries = try turning { () throws(Problem) in
            try room.send(InnerCall("GET", "\(path)/deliveries", query: whole))
        }
    }

    /// Performs the act whose button was pressed, then shows the webhook again.
    static func act(_ name: String, _ room: ProjectRoom, _ visit: Visit) throws(Turned) -> Response
    {
        let id = visit.arguments[1]
        let fields = Fields(form: visit.body)
        var body: JSON?
        if name == "replay" { body = ["event": .string(fields.trimmed("event") ?? "")] }
        let call = InnerCall(
            "POST", "/webhooks/\(percentEncoded(id))/\(name)", body: body,
            idempotencyKey: name == "test" ? nil : fields["mark"].map { "console-\($0)" })
        let answer = try turning { () throws(Problem) in try room.send(call) }
        if name == "test" {
            return try WebhookPage(room, id, Fields("")).response(test: answer)
        }
        return .seeOther(
            room.webhooks.below(id).with("customer", fields.trimmed("customer"))
                .with("done", name))
    }

    private var place: Place { room.webhooks.below(id) }

    func response(test: JSON? = nil) -> Response {
        Page(
            title: "Webhook \(id)", visitor: room.visitor, room: room,
            content: """
                \(done)
                \(test.map(result) ?? .nothing)
                \(about)
                \(buttons)
                \(waiting)
                \(replays)
                \(attempts)
                """
        ).response()
    }

    private var done: Markup {
        let words: Markup? =
            switch fields["done"] {
            case "pause": "The webhook is paused. Events wait until it is resumed."
            case "resume": "The webhook is resumed."
            case "replay": "The event is being sent again; the list will show it in a moment."
            default: nil
            }
        return words.map { "<p class=\"notice done\" role=\"status\">\($0)</p>" } ?? .nothing
    }

    private func result(_ test: JSON) -> Markup {
        let status = test["status"]?.integer.map { "The receiver answered with \($0)" }
        let words = status ?? test["error"]?.string ?? "The receiver did not answer"
        return """
            <div class="notice" role="status"><p>An example was sent. \(words), after \(String(test["milliseconds"]?.integer ?? 0)) ms.</p>
            <details><summary>Its answer</summary><pre>\(test["answer"]?.string ?? "")</pre></details></div>
            """
    }

    private var about: Markup {
        let types = (webhook["types"]?.array ?? []).compactMap(\.string).joined(separator: ", ")
        return .terms([
            ("State", .state(of: webhook)), ("URL", .text(webhook["url"]?.string ?? "")),
            ("Events", .text(types)), ("Environment", .text(webhook["environment"]?.string ?? "")),
            ("Description", .text(webhook["description"]?.string ?? "")),
            ("Waiting", .text(String(webhook["waiting"]?.integer ?? 0))),
            ("Parked", .text(String(webhook["parked"]?.integer ?? 0))),
            ("Oldest waiting event", .time(webhook["oldest_at"]?.string)),
        ])
    }

    private var buttons: Markup {
        let isPaused = webhook["state"]?.string == "paused"
        let names = [isPaused ? "pause" : "resume", "replay"]
        let forms: [Markup] = WebhookPage.acts.filter { !names.contains($0.name) }.map {
            form($0.name, $0.button)
        }
        return "<div class=\"acts\">\(forms)</div>"
    }

    private func form(_ name: String, _ button: String) -> Markup {
        WebhookPage.form(name, button, to: id, in: room, [])
    }

    /// Returns a button that sends an event again and then shows the customer's attempts.
    static func resending(
        _ message: String, to id: String, about customer: String?, in room: ProjectRoom
    ) -> Markup {
        let about = customer.map { [(name: "customer", value: $0)] } ?? []
        return form(
            "replay", "Send again", to: id, in: room, [(name: "event", value: message)] + about)
    }

    /// Returns whether an attempt's message arrived, with the status and the error.
    static func outcome(of attempt: JSON) -> Markup {
        let isDelivered = attempt["delivered"]?.bool ?? false
        let status = attempt["status"]?.integer.map(String.init)
        let outcome = [status, attempt["error"]?.string].compactMap(\.self).joined(separator: ", ")
        let mark = Markup.badge(isDelivered ? "received" : "failed", isGood: isDelivered)
        return "\(mark) \(outcome)"
    }

    private static func form(
        _ name: String, _ button: String, to id: String, in room: ProjectRoom,
        _ fields: [(name: String, value: String)]
    ) -> Markup {
        """
        <form method="post" action="\(value: room.webhooks.below(id, name).text)">
        \(room.visitor.token)
        \(Markup.hidden([("mark", room.newMark())] + fields))
        <button class="quiet">\(button)</button>
        </form>
        """
    }

    private var waiting: Markup {
        let all = deliveries["waiting"]?.array ?? []
        if all.isEmpty { return .nothing }
        let rows = all.map { customer -> [Markup] in
            let isParked = customer["parked"]?.bool ?? false
            return [
                self.customer(customer["customer"]?.string),
                .time(customer["since"]?.string),
                .text(String(customer["attempts"]?.integer ?? 0)),
                isParked ? "when it is resumed" : .time(customer["next_at"]?.string),
            ]
        }
        return .section(
            "waiting", "Customers with waiting events",
            .table(["Customer", "Since", "Attempts", "Next attempt"], rows))
    }

    private var replays: Markup {
        let all = deliveries["replays"]?.array ?? []
        if all.isEmpty { return .nothing }
        let rows = all.map { replay -> [Markup] in
            [
                .code(replay["replay"]?.string), .text(String(replay["sent"]?.integer ?? 0)),
                .text(String(replay["failed"]?.integer ?? 0)),
                replay["over"]?.bool == true ? "over" : "going on",
            ]
        }
        return .section(
            "replays", "Sent again", .table(["Replay", "Sent", "Failed", "State"], rows))
    }

    private var attempts: Markup {
        let all = deliveries["deliveries"]?.array ?? []
        let older = deliveries["next"]?.integer.map {
            place.with("customer", fields.trimmed("customer")).with("before", String($0))
        }
        let table = Markup.table(
            ["When", "Event", "Customer", "Attempt", "Outcome", "Answer", "Do"], all.map(attempt),
            ifEmpty: "Nothing has been sent.")
        return .section(
            "attempts", "Attempts",
            """
            <form class="filters" method="get" action="\(value: place.text)">
            <p><label for="customer">Customer</label>
            <input id="customer" name="customer" maxlength="256" value="\(value: fields["customer"] ?? "")"></p>
            <p><button>Show</button></p>
            </form>
            \(table)
            \(Markup.more(older, "Older attempts"))
            """)
    }

    private func attempt(_ attempt: JSON) -> [Markup] {
        let message = attempt["message"]?.string ?? ""
        let answer = attempt["answer"]?.string ?? ""
        let said: Markup =
            answer.isEmpty
            ? .nothing : "<details><summary>its answer</summary><pre>\(answer)</pre></details>"
        return [
            .time(attempt["at"]?.string),
            "\(attempt["type"]?.string ?? "") \(Markup.code(message))",
            customer(attempt["customer"]?.string),
            .text(String(attempt["attempt"]?.integer ?? 0)),
            WebhookPage.outcome(of: attempt), said,
            WebhookPage.resending(message, to: id, about: fields.trimmed("customer"), in: room),
        ]
    }

    private func customer(_ name: String?) -> Markup {
        guard let name else { return .nothing }
        let isSandbox = webhook["environment"]?.string == Environment.sandbox.rawValue
        return .link(NamedStream(room, name, isSandbox: isSandbox).place, name)
    }
}
