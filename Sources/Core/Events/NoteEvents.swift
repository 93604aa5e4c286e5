/// Staff added a note about a customer.
package struct NoteAdded: EventContent {
    package let note: NoteID
    package let text: NoteText
    package let ticket: Ticket?
    package var subject: EventSubject { .customer }

    package init(note: NoteID, text: NoteText, ticket: Ticket?) {
        self.note = note
        self.text = text
        self.ticket = ticket
    }
}

/// Staff removed a note from a customer's list. The log still contains its text.
package struct NoteRemoved: EventContent {
    package let note: NoteID
    package let reason: Reason
    package let ticket: Ticket?
    package var subject: EventSubject { .customer }

    package init(note: NoteID, reason: Reason, ticket: Ticket?) {
        self.note = note
        self.reason = reason
        self.ticket = ticket
    }
}

extension EventType {
    static let notes: EventFamily = [
        .noteAdded: .ofCustomer("note.added", "Note: {text}", since: .readings, isAct: true),
        .noteRemoved: .ofCustomer(
            "note.removed", "The note {note} was removed", since: .readings, isAct: true),
    ]
}
