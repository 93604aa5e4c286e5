/// What is said of a type of events, in one place for all who ask. The file of its family has it.
package struct EventDescription: Sendable {
    /// The stable name under which it is kept and shown.
    package let name: String
    package let home: EventType.Home
    /// The log's format with which it came. An older program refuses it by its name.
    package let since: LogFormat
    /// Whether a person can decide it. `list_acts.sql` has the same types, and so has the index for it.
    package let isAct: Bool
    package let explanation: Explanation
    /// What a customer's page says of it; `nil` where no such page shows it.
    package let sentence: EventSentence?

    /// What an explanation of access says of it.
    package enum Explanation: Sendable {
        /// It is listed, and a sentence says who decided it and why.
        case inWords(@Sendable (RecordedEvent) -> String?)
        /// It is listed. The rule that follows from it has the words.
        case listed
        /// It is left out, since no access follows from it.
        case leftOut
    }
}

/// Types of events about one subject.
typealias EventFamily = [EventType: EventDescription]

extension EventDescription {
    /// An event of a project.
    static func ofProject(
        _ name: String, changesAnswers: Bool, isAct: Bool = true
    ) -> EventDescription {
        EventDescription(
            name: name, home: .project(changesAnswers: changesAnswers), since: .first,
            isAct: isAct, explanation: .leftOut, sentence: nil)
    }

    /// What evidence states of a customer.
    static func fact(
        _ name: String, _ sentence: EventSentence, _ explanation: Explanation
    ) -> EventDescription {
        EventDescription(
            name: name, home: .customer(isFact: true), since: .first, isAct: false,
            explanation: explanation, sentence: sentence)
    }

    /// What Deed or its callers decide of a customer.
    static func ofCustomer(
        _ name: String, _ sentence: EventSentence, _ explanation: Explanation = .leftOut,
        since: LogFormat = .first, isAct: Bool = false
    ) -> EventDescription {
        EventDescription(
            name: name, home: .customer(isFact: false), since: since, isAct: isAct,
            explanation: explanation, sentence: sentence)
    }
}

/// An event that a person decided for a reason.
protocol Deed: EventContent {
    var reason: Reason { get }
    var ticket: Ticket? { get }
    /// From when on it counts; `nil` for the moment when it was recorded.
    var effectiveAt: Instant? { get }
}

extension Deed {
    var effectiveAt: Instant? { nil }
}

extension EventDescription.Explanation {
    /// What a person did to the subject of the event.
    static func deed(_ verb: String, _ rest: String = "") -> EventDescription.Explanation {
        .inWords { event in
            guard let deed = event.event.content as? any Deed, let name = deed.subject.name else {
                return nil
            }
            let ticket = deed.ticket.map { " (\($0))" } ?? ""
            let instant = (deed.effectiveAt ?? event.recordedAt).text
            return "\(event.actor) \(verb) \(name)\(rest) at \(instant): \(deed.reason)\(ticket)."
        }
    }
}

extension RecordedEvent {
    /// What the event is about, in the words of answers.
    package var subject: String { event.subject.name ?? stream.customer.text }

    /// What an explanation says of the event: who decided it and why, and which token brought a purchase.
    package var words: String? {
        guard case .inWords(let words) = event.type.explanation else { return nil }
        return words(self)
    }
}
