import API
import Commands
import Core
import Service

let noteCommands = [addNoteCommand, listNotesCommand, removeNoteCommand]

private let ofCustomer = Option.value(
    "customer", "ID", "the customer whom the note is about", isRequired: true)

private let addNoteCommand = CommandSpec(
    path: ["note", "add"], summary: "Writes a note about a customer for other staff.",
    options: [
        ofCustomer,
        .value("text", "TEXT", "the note, of at most 2,000 bytes", isRequired: true),
        .value("ticket", "ID", "the support case"),
        .environment, .idempotencyKey, .project,
    ] + Option.database,
    example: "deed note add --customer u1 --text \"plays on two phones\" --ticket T-7"
) { invocation throws(CommandEnd) in
    let stream = try invocation.stream()
    let text = try invocation.note()
    let ticket = try invocation.ticket()
    let sender = try invocation.sender()
    try invocation.withUseCases(in: stream.project) { useCases throws(CommandEnd) in
        let answer = try useCases.fulfil(
            useCases.notes.adding(text, ticket: ticket, to: stream, by: sender))
        invocation.show(
            answer.json, text: "Added the note \(answer.note) to \(stream.customer).")
    }
}

private let listNotesCommand = CommandSpec(
    path: ["note", "list"], summary: "Lists the notes about a customer, oldest first.",
    options: [ofCustomer, .environment, .project] + Option.database,
    onlyReads: true, example: "deed note list --customer u1"
) { invocation throws(CommandEnd) in
    let stream = try invocation.stream()
    try invocation.withUseCases(in: stream.project) { useCases throws(CommandEnd) in
        let answer = try ask(useCases.notes.list(of: stream))
        invocation.show(answer.json, text: answer.table)
    }
}

private let removeNoteCommand = CommandSpec(
    path: ["note", "remove"],
    summary:
        "Removes a note from a customer's list. The log keeps it until the customer is erased.",
    options: [ofCustomer, .value("note", "ID", "the note's id", isRequired: true)]
        + reasons + [.environment, .idempotencyKey, .project] + Option.database,
    example: "deed note remove --customer u1 --note n_4x1k9d --reason \"of another player\""
) { invocation throws(CommandEnd) in
    let stream = try invocation.stream()
    let note: NoteID = try invocation.requiredID("note")
    let reason = try invocation.adminReason()
    let sender = try invocation.sender()
    try invocation.withUseCases(in: stream.project) { useCases throws(CommandEnd) in
        let answer = try useCases.fulfil(
            useCases.notes.removing(note, reason: reason, of: stream, by: sender))
        invocation.show(answer.json, text: "Removed the note \(note) of \(stream.customer).")
    }
}

extension Invocation {
    fileprivate func note() throws(CommandEnd) -> NoteText {
        do {
            return try NoteText(self["text"] ?? "")
        } catch {
            throw usage("--text \(error)")
        }
    }
}

extension NotesAnswer {
    fileprivate var table: String {
        if notes.isEmpty { return "No notes about \(stream.customer) in \(stream.environment)." }
        return notes.map { note in
            let by = note.by.map { actorNames[$0] ?? $0.text } ?? ""
            let ticket = note.added.ticket.map { " (\($0))" } ?? ""
            return "\(note.at?.text ?? "")   \(note.id)   \(by)\(ticket): \(note.added.text.text)"
        }.joined(separator: "\n")
    }
}
