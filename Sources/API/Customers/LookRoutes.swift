import Core
import HTTPServer
import JSON
import Service

/// The call for a customer's page, which only the service's own pages make. It returns everything
/// that the page shows, in the same form as the public calls.
struct LookRoutes: Sendable {
    /// The number of events that a page reads.
    private static let eventLimit = 1000
    /// The maximum number of sentences that explain an entitlement.
    private static let sentenceLimit = 30
    /// The maximum number of rows in a customer's timeline.
    private static let rowLimit = 40

    let customers: Customers

    var routes: [Route] {
        [
            Route(
                "GET", "/customers/{customer}/look", parameters: ReadQuestion.names + ["before"],
                .read, .database, look)
        ]
    }

    private func look(_ call: Call) throws(Problem) -> Response {
        let stream = try call.stream()
        let question = try ReadQuestion(call.query)
        let before = try call.query.optionalInteger("before", in: 1...Int64.max)
        try customers.reading.certain()
        let answer = try ask(
            customers.look(
                at: stream, question.at, known: question.known, before: before,
                limit: LookRoutes.eventLimit))
        let view = answer.customer.view
        let timeline = view.customer.timeline(by: view.project.catalog)
        let notes = view.customer.notes
        let names = view.project.names(of: notes.compactMap(\.by))
        let events = answer.events.json(hidesPrices: call.access.isOfSupport)
        return .json(
            answer.customer.json
                .with("explanations", .array(answer.explanations.map(explained)))
                .with("timeline", .array(timeline.prefix(LookRoutes.rowLimit).map(\.json)))
                .with("more_rows", .integer(max(0, timeline.count - LookRoutes.rowLimit)))
                .with("offered", .array(view.project.catalog.entitlements.map { .string($0.text) }))
                .with("notes", .array(notes.map { $0.json(names) }))
                .with("events", events["events"])
                .with("earlier", .integer(answer.earlier)))
    }

    private func explained(_ answer: ExplanationAnswer) -> JSON {
        let sentences = answer.sentences
        return [
            "entitlement": .string(answer.entitlement.text),
            "answer": .object(answer.explanation.answer.members(of: answer.stream)),
            "words": .array(sentences.prefix(LookRoutes.sentenceLimit).map(JSON.string)),
            "more_words": .integer(max(0, sentences.count - LookRoutes.sentenceLimit)),
        ]
    }
}
