import API
import JSON

/// Attempts to deliver the customer's events to webhooks. Each has a button to send the event again.
struct AttemptPart {
    /// The maximum number of webhooks to query, and of attempts to show for each.
    private static let (webhooks, attempts) = (5, 10)

    let look: CustomerLook

    private var room: ProjectRoom { look.stream.room }

    var markup: Markup {
        guard room.maySee("/webhooks"), look.at == nil, look.known == nil,
            let answer = try? room.send(InnerCall("GET", "/webhooks"))
        else { return .nothing }
        let own = (answer["webhooks"]?.array ?? []).filter {
            $0["environment"]?.string == look.stream.environment
        }
        if own.isEmpty { return .nothing }
        let parts = own.prefix(AttemptPart.webhooks).compactMap(webhook)
        let more: Markup =
            own.count > AttemptPart.webhooks
            ? "<p>\(Markup.link(room.webhooks, "All webhooks"))</p>" : .nothing
        return .section("attempts", "What was sent to webhooks", "\(parts)\(more)")
    }

    private func webhook(_ webhook: JSON) -> Markup? {
        let id = webhook["id"]?.string ?? ""
        let query =
            "customer=\(percentEncoded(look.stream.customer))&limit=\(AttemptPart.attempts)"
        let call = InnerCall("GET", "/webhooks/\(percentEncoded(id))/deliveries", query: query)
        guard let answer = try? room.send(call) else { return nil }
        let rows = (answer["deliveries"]?.array ?? []).map { row($0, of: id) }
        let place = room.webhooks.below(id).with("customer", look.stream.customer)
        let waiting = (answer["waiting"]?.array ?? []).isEmpty
        let table = Markup.table(
            ["When", "Event", "Attempt", "Outcome", "Do"], rows,
            ifEmpty: "Nothing has been sent about this customer.")
        let state: Markup =
            waiting
            ? .nothing : "<p class=\"notice\">Some of the customer's events are waiting.</p>"
        return """
            <h3>\(Markup.link(place, id)) \(webhook["url"]?.string ?? "")</h3>
            \(state)
            \(table)
            """
    }

    private func row(_ attempt: JSON, of webhook: String) -> [Markup] {
        let message = attempt["message"]?.string ?? ""
        return [
            .time(attempt["at"]?.string),
            "\(attempt["type"]?.string ?? "") \(Markup.code(message))",
            .text(String(attempt["attempt"]?.integer ?? 0)), WebhookPage.outcome(of: attempt),
            WebhookPage.resending(message, to: webhook, about: look.stream.customer, in: room),
        ]
    }
}
