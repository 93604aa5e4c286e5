import Core
import JSON

/// The customer's events, newest first.
struct EventPart {
    private static let pageSize = 50

    let look: CustomerLook

    var markup: Markup {
        let page = Array(look.events.suffix(EventPart.pageSize).reversed())
        let isMore = look.earlier > 0 || look.events.count > page.count
        let older = isMore ? page.last?["version"]?.integer : nil
        let next = Markup.more(
            older.map { look.place.with("before", String($0)) }, "Older events")
        let newer = Markup.more(look.before == nil ? nil : look.place, "Newest events")
        let list: Markup =
            page.isEmpty
            ? "<p>Nothing has been recorded.</p>" : "<ol class=\"events\">\(page.map(item))</ol>"
        return .section("events", "What happened", "\(newer)\(list)\(next)")
    }

    private func item(_ event: JSON) -> Markup {
        let recorded = event["recorded_at"]?.string
        let actor = event["actor"]?.string ?? ""
        let name = event["actor_name"]?.string.map { "\($0), \(actor)" } ?? actor
        let then = look.stream.place.with("at", recorded).with("known", recorded)
        return """
            <li>\(Markup.time(recorded)) \(timed: EventWords(event: event).sentence)
            <span class="by">by \(name)</span> \(Markup.link(then, "as of then"))
            <details><summary>\(event["type"]?.string ?? "")</summary><pre>\(event.indented)</pre></details></li>
            """
    }
}

/// The visitor's latest act, with a link to undo it.
struct DoneLine {
    private static let acts: Set = [
        "grant.given", "grant.changed", "grant.revoked", "balance.adjusted", "purchase.blocked",
        "purchase.unblocked", "purchase.attached", "purchase.detached", "customer.merged",
        "customer.unmerged", "customer.erased", "order.closed",
    ]
    /// The milliseconds for which an act counts as the latest one.
    private static let life: Int64 = 10 * 60_000

    let look: CustomerLook

    var markup: Markup {
        // Anyone can put a version into a page's address, so the event counts only if it is recent
        // and was caused by this person.
        let actor = "person:\(look.stream.room.visitor.signedIn.person.text)"
        let event = look.events.first { event in
            (event["version"]?.integer ?? 0) > look.done ?? .max
                && event["actor"]?.string == actor
                && DoneLine.acts.contains(event["type"]?.string ?? "") && isNew(event)
        }
        guard let event else { return .nothing }
        let undo: Markup = undoing(event).map { Markup.link($0, "Undo") } ?? .nothing
        return """
            <p class="notice done" role="status">Done. \(timed: EventWords(event: event).sentence) \(undo)</p>
            """
    }

    private func isNew(_ event: JSON) -> Bool {
        let instants = [look.whole["at"], event["recorded_at"]].compactMap { member in
            (member?.string).flatMap { Instant(text: $0) }
        }
        return instants.count == 2
            && instants[0].milliseconds - instants[1].milliseconds < DoneLine.life
    }

    private func undoing(_ event: JSON) -> Place? {
        let (stream, data) = (look.stream, event["data"])
        func text(_ name: String) -> String { data?[name]?.string ?? "" }
        // Undoing a move cannot itself be undone.
        let isMove = data?["cause"]?["kind"]?.string == "admin"
        switch event["type"]?.string {
        case "grant.given": return stream.below("grants", text("grant"), "revoke")
        case "balance.adjusted":
            let amount = data?["amount"]?.integer ?? 0
            return stream.below("balances", text("currency"), "adjust")
                .with("amount", String(-amount))
        case "purchase.attached" where isMove:
            return stream.below("purchases", text("purchase"), "undo_transfer")
        case "purchase.detached" where isMove:
            // An undo starts on the page of the customer who has the purchase now.
            let other = NamedStream(stream.room, text("to"), isSandbox: stream.isSandbox)
            return other.below("purchases", text("purchase"), "undo_transfer")
        case "purchase.blocked": return stream.below("purchases", text("purchase"), "unblock")
        case "purchase.unblocked": return stream.below("purchases", text("purchase"), "block")
        case "customer.merged": return stream.below("unmerge")
        case "customer.unmerged": return stream.below("merge").with("into", text("from"))
        default: return nil
        }
    }
}

extension JSON {
    /// The value as text with a line for each member.
    var indented: String { indented(by: 0) }

    private func indented(by depth: Int) -> String {
        let (outer, inner) = (
            String(repeating: "  ", count: depth), String(repeating: "  ", count: depth + 1)
        )
        switch self {
        case .object(let object) where !object.isEmpty:
            let lines = object.members.map {
                "\(inner)\(JSON.string($0.name).text): \($0.value.indented(by: depth + 1))"
            }
            return "{\n\(lines.joined(separator: ",\n"))\n\(outer)}"
        case .array(let elements) where !elements.isEmpty:
            let lines = elements.map { "\(inner)\($0.indented(by: depth + 1))" }
            return "[\n\(lines.joined(separator: ",\n"))\n\(outer)]"
        default: return text
        }
    }
}
