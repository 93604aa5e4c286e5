import JSON

/// Notes that staff wrote about the customer.
struct NotePart {
    let look: CustomerLook

    var markup: Markup {
        let notes = look.whole["notes"]?.array ?? []
        let isPart = look.whole["merged_into"]?.string != nil
        let isAllowed = Act.note.isAllowed(in: look.stream.room) && !isPart
        if notes.isEmpty, !isAllowed { return .nothing }
        let part = look.part(of: notes.reversed(), "notes")
        let adding: Markup =
            isAllowed
            ? "<p class=\"acts\">\(Markup.link(look.stream.below("note"), Act.note.title))</p>"
            : .nothing
        return .section(
            "notes", "Notes", "\(part.links)\(part.shown.map(article))\(adding)")
    }

    private func article(_ note: JSON) -> Markup {
        let id = note["id"]?.string ?? ""
        let by = note["by_name"]?.string ?? note["by"]?.string ?? ""
        let ticket: Markup = note["ticket"]?.string.map { ", ticket \($0)" } ?? .nothing
        let removing: Markup =
            Act.unnote.isAllowed(in: look.stream.room)
            ? Markup.link(look.stream.below("notes", id, "remove"), "Remove") : .nothing
        return """
            <article class="card"><p class="note">\(note["text"]?.string ?? "")</p>
            <p>\(Markup.time(note["at"]?.string)) by \(by)\(ticket) \(removing)</p></article>
            """
    }
}
