import Core
package import JSON
package import Service

extension NoteAnswer {
    /// The answer to `POST /v1/customers/{c}/notes` and `DELETE …/{id}`.
    package var json: JSON {
        .answer(
            about: stream, at: position,
            added.map { ["note": $0.json] } ?? ["removed": .string(note.text)])
    }
}

extension NotesAnswer {
    /// The answer to `GET /v1/customers/{c}/notes`.
    package var json: JSON {
        .answer(about: stream, at: position, ["notes": .array(notes.map { $0.json(actorNames) })])
    }
}

extension Note {
    func json(_ names: [Actor: String]) -> JSON {
        json.with("by_name", .optional(by.flatMap { names[$0] }))
    }

    fileprivate var json: JSON {
        [
            "id": .string(id.text), "text": .string(added.text.text),
            "ticket": .optional(added.ticket?.text), "at": .instant(at),
            "by": .optional(by?.text),
        ]
    }
}
