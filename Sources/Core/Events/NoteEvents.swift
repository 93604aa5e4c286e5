/// Staff wrote something down about a customer.
package struct NoteAdded: Hashable, Sendable {
    package let note: NoteID
    package let text: NoteText
    package let ticket: Ticket?

    package init(note: NoteID, text: NoteText, ticket: Ticket?) {
        self.note = note
        self.text = text
        self.ticket = ticket
    }
}

/// Staff took a note off a customer's list. The log still has its text.
package struct NoteRemoved: Hashable, Sendable {
    package let note: NoteID
    package let reason: Reason
    package let ticket: Ticket?

    package init(note: NoteID, reason: Reason, ticket: Ticket?) {
        self.note = note
        self.reason = reason
        self.ticket = ticket
    }
}
