import Core
import JSON

extension NoteAdded: PayloadCodable {
    var payload: JSON {
        [
            "note": .string(note.text), "text": .string(text.text),
            "ticket": .optional(ticket?.text),
        ]
    }

    init(_ payload: Payload) throws {
        self.init(
            note: try payload.id("note"), text: try NoteText(try payload.text("text")),
            ticket: try payload.optionalID("ticket"))
    }
}

extension NoteRemoved: PayloadCodable {
    var payload: JSON {
        [
            "note": .string(note.text), "reason": .string(reason.text),
            "ticket": .optional(ticket?.text),
        ]
    }

    init(_ payload: Payload) throws {
        self.init(
            note: try payload.id("note"), reason: try payload.id("reason"),
            ticket: try payload.optionalID("ticket"))
    }
}

extension Note: PayloadCodable {
    var payload: JSON {
        added.payload.with("at", .instant(at)).with("by", .id(by))
    }

    init(_ payload: Payload) throws {
        self.init(
            try NoteAdded(payload), at: try payload.optionalInstant("at"),
            by: try payload.optionalID("by"))
    }
}
