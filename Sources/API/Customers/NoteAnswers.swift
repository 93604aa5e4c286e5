import Core
package import JSON
package import Service

extension NoteAnswer {
    /// `POST /v1/customers/{c}/notes` and `DELETE …/{id}`
    package var json: JSON {
        .answer(
            about: stream, at: position,
            added.map { ["note": $0.json] } ?? ["removed": .string(note.text)])
    }
}

extension NotesAnswer {
    /// `GET /v1/customers/{c}/notes`
    package var json: JSON {
        let list = notes.map { note in
            note.json.with("by_name", .optional(note.by.flatMap { actorNames[$0] }))
        }
        return .answer(about: stream, at: position, ["notes": .array(list)])
    }
}

extension Note {
    fileprivate var json: JSON {
        [
            "id": .string(id.text), "text": .string(added.text.text),
            "ticket": .optional(added.ticket?.text), "at": .instant(at),
            "by": .optional(by?.text),
        ]
    }
}
