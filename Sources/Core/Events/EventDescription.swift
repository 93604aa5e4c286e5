/// The description of an event type. It is defined once, in the file of its family, for all callers.
package struct EventDescription: Sendable {
    /// The stable name that is stored and shown.
    package let name: String
    package let home: EventType.Home
    /// The log format that introduced the type. An older program refuses the type and gives its name.
    package let since: LogFormat
    /// Whether a person can decide an event of this type. The trail lists these types.
    package let isAct: Bool
    package let explanation: Explanation
    /// The sentence on a customer's page; `nil` if those pages never show the event.
    package let sentence: EventSentence?

    /// How an explanation of access treats the event.
    package enum Explanation: Sendable {
        /// Lists the event with a sentence that says who decided it and why.
        case inWords(@Sendable (RecordedEvent) -> String?)
        /// Lists the event without a sentence, because the resulting rule already has one.
        case listed
        /// Leaves the event out, because it does not affect access.
        case leftOut
    }
}

/// The event types for one subject.
typealias EventFamily = [EventType: EventDescription]

extension EventDescription {
    /// Describes an event in a project's stream.
    static func ofProject(
        _ name: String, changesAnswers: Bool, isAct: Bool = true
    ) -> EventDescription {
        EventDescription(
            name: name, home: .project(changesAnswers: changesAnswers), since: .first,
            isAct: isAct, explanation: .leftOut, sentence: nil)
    }

    /// Describes a fact about a customer that evidence states.
    static func fact(
        _ name: String, _ sentence: EventSentence, _ explanation: Explanation
    ) -> EventDescription {
        EventDescription(
            name: name, home: .customer(isFact: true), since: .first, isAct: false,
            explanation: explanation, sentence: sentence)
    }

    /// Describes a decision about a customer by Deed or one of its callers.
    static func ofCustomer(
        _ name: String, _ sentence: EventSentence, _ explanation: Explanation = .leftOut,
        since: LogFormat = .first, isAct: Bool = false
    ) -> EventDescription {
        EventDescription(
            name: name, home: .customer(isFact: false), since: since, isAct: isAct,
            explanation: explanation, sentence: sentence)
    }
}

/// An event that a person decided, with a reason.
protocol Deed: EventContent {
    var reason: Reason { get }
    var ticket: Ticket? { get }
    /// When the decision takes effect; `nil` if it takes effect when it is recorded.
    var effectiveAt: Instant? { get }
}

extension Deed {
    var effectiveAt: Instant? { nil }
}

extension EventDescription.Explanation {
    /// Returns a sentence about a person's action on the event's subject.
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
    /// The subject of the event, as named in answers.
    package var subject: String { event.subject.name ?? stream.customer.text }

    /// The sentence about the event in an explanation: who decided it and why, or which token brought a purchase.
    package var words: String? {
        guard case .inWords(let words) = event.type.explanation else { return nil }
        return words(self)
    }
}
