import Core
import HTTPServer
import JSON
import Service

/// Calls for the notes that staff keep about a customer.
struct NoteRoutes: Sendable {
    private static let removal = ["environment"] + Body.reasonNames

    let notes: Notes
    let reading: any CustomerReading

    var routes: [Route] {
        let notes = "/customers/{customer}/notes"
        return [
            Route("POST", notes, parameters: ["environment"], .help, .memory, add),
            Route("GET", notes, parameters: ["environment"], .read, .database, list),
            Route(
                "DELETE", "\(notes)/{note}", parameters: NoteRoutes.removal, .help, .memory,
                remove),
        ]
    }

    private func add(_ call: Call) throws(Problem) -> Wish<Response> {
        let body = try Body(call.body, of: ["text", "ticket", "environment"])
        let stream = try call.stream(environment: try body.optionalText("environment"))
        let text = try body.note()
        let ticket = try body.ticket(of: call)
        return notes.adding(text, ticket: ticket, to: stream, by: call.sender)
            .response { .json($0.json, status: 201, position: $0.position) }
    }

    private func list(_ call: Call) throws(Problem) -> Response {
        let stream = try call.stream()
        try reading.certain()
        let answer = try ask(notes.list(of: stream))
        return .json(answer.json, position: answer.position)
    }

    private func remove(_ call: Call) throws(Problem) -> Wish<Response> {
        let note = try NoteID(member: "note", call.arguments[1])
        let body = try Body(orQueryOf: call, of: NoteRoutes.removal)
        let stream = try call.stream(environment: try body.optionalText("environment"))
        let reason = try body.reason(of: call)
        return notes.removing(note, reason: reason, of: stream, by: call.sender)
            .response { .json($0.json, position: $0.position) }
    }
}

extension Body {
    fileprivate func note() throws(Problem) -> NoteText {
        let text = try text("text")
        do {
            return try NoteText(text)
        } catch {
            throw .invalid("text", "\"text\" \(error).")
        }
    }
}
