package import Core

/// A note that was added or removed.
package struct NoteAnswer: Hashable, Sendable {
    package let stream: Stream
    package let note: NoteID
    /// `nil` if the note was removed.
    package let added: Note?
    package let position: Position
}

/// A customer's notes, oldest first.
package struct NotesAnswer: Hashable, Sendable {
    package let stream: Stream
    package let notes: [Note]
    package let position: Position
    /// The names of the keys with which the notes were added.
    package let actorNames: [Actor: String]
}

/// Manages notes that staff write about a customer for other staff.
package struct Notes: Sendable {
    let ledger: any EventLog
    let secrets: Secrets

    package func adding(
        _ text: NoteText, ticket: Ticket?, to stream: Stream, by sender: Sender
    ) -> Wish<NoteAnswer> {
        let wish = NoteAdded(note: secrets.newID(prefix: "n_"), text: text, ticket: ticket)
        let cause = secrets.cause(of: sender, "add_note", [text.text, ticket?.text])
        let command = Command.customer(stream, actor: sender.actor, cause: cause) {
            state, _, _ throws(Refusal) in try state.decide(wish)
        }
        return Wish(
            command, telling: { if case .noteAdded(let added) = $0 { added } else { nil } },
            missing: "adding a note recorded no note"
        ) { recorded in
            let note = Note(recorded.told, at: recorded.event.recordedAt, by: recorded.event.actor)
            return NoteAnswer(
                stream: stream, note: note.id, added: note, position: recorded.position)
        }
    }

    /// Returns a request to remove a note from the list. Repeating it returns the same answer.
    package func removing(
        _ note: NoteID, reason: AdminReason, of stream: Stream, by sender: Sender
    ) -> Wish<NoteAnswer> {
        let wish = NoteRemoved(note: note, reason: reason.reason, ticket: reason.ticket)
        let cause = secrets.cause(
            of: sender, "remove_note", [note.text, reason.reason.text, reason.ticket?.text])
        // A merge does not move a customer's notes, so they are removed in that customer's own stream.
        let command = Command.customer(
            stream, actor: sender.actor, cause: cause, concernsMerged: true
        ) { state, _, _ throws(Refusal) in try state.decide(wish) }
        return Wish(
            command, telling: { if case .noteRemoved(let removed) = $0 { removed } else { nil } },
            missing: "removing a note recorded nothing"
        ) { recorded in
            NoteAnswer(stream: stream, note: note, added: nil, position: recorded.position)
        }
    }

    package func list(of stream: Stream) throws(Fault) -> NotesAnswer {
        let snapshot = try ledger.customer(of: stream)
        let notes = snapshot.customer.notes
        return NotesAnswer(
            stream: stream, notes: notes, position: snapshot.position,
            actorNames: snapshot.project.names(of: notes.compactMap(\.by)))
    }
}
