/// A wish that one stream decides: what to do with its state, who wants it and why.
package struct Command: Sendable {
    package typealias Decide = @Sendable (StreamState, Instant) throws(Refusal) -> [Event]

    package let stream: Stream
    package let actor: Actor
    package let cause: Cause
    package let decide: Decide

    package init(stream: Stream, actor: Actor, cause: Cause, decide: @escaping Decide) {
        self.stream = stream
        self.actor = actor
        self.cause = cause
        self.decide = decide
    }

    /// A command about a customer.
    package static func customer(
        _ stream: Stream, actor: Actor, cause: Cause,
        decide: @escaping @Sendable (CustomerState, Instant) throws(Refusal) -> [Event]
    ) -> Command {
        Command(stream: stream, actor: actor, cause: cause) { state, now throws(Refusal) in
            guard case .customer(let customer) = state else { return [] }
            return try decide(customer, now)
        }
    }

    /// A command about a project itself.
    package static func project(
        _ project: ProjectID, actor: Actor, cause: Cause,
        decide: @escaping @Sendable (ProjectState, Instant) throws(Refusal) -> [Event]
    ) -> Command {
        Command(stream: .ofProject(project), actor: actor, cause: cause) {
            state, now throws(Refusal) in
            guard case .project(let project) = state else { return [] }
            return try decide(project, now)
        }
    }
}

/// What made events happen. A stream obeys one cause once, whatever arrives again.
package struct Cause: Hashable, Sendable {
    package static let lengthLimit = 300

    /// `key:<idempotency key>`, `command:<random>` or `evidence:<digest>`.
    package let text: String
    /// Tells one command from another under the same cause; 32 bytes.
    package let digest: [UInt8]

    package init(text: String, digest: [UInt8]) {
        self.text = text
        self.digest = digest
    }
}

/// The state of a stream, whichever kind of stream it is.
package enum StreamState: Hashable, Sendable {
    case customer(CustomerState)
    case project(ProjectState)

    /// The state of a stream in which nothing has happened.
    package init(emptyFor stream: Stream) {
        self = stream.isOfProject ? .project(ProjectState()) : .customer(CustomerState())
    }

    package var version: Int64 {
        switch self {
        case .customer(let state): state.version
        case .project(let state): state.version
        }
    }

    package mutating func apply(_ event: Event, recordedAt: Instant) {
        // Letting go of the state first spares a copy of all that it holds.
        switch self {
        case .customer(var state):
            self = .project(ProjectState())
            state.apply(event)
            self = .customer(state)
        case .project(var state):
            self = .customer(CustomerState())
            state.apply(event, recordedAt: recordedAt)
            self = .project(state)
        }
    }
}

/// What came of a command.
package struct Outcome: Sendable {
    /// The events of this command, or of its earlier twin with the same cause.
    package let events: [RecordedEvent]
    /// The stream's state after the command.
    package let state: StreamState
    /// A place in the log that contains all of it.
    package let position: Position

    package init(events: [RecordedEvent], state: StreamState, position: Position) {
        self.events = events
        self.state = state
        self.position = position
    }
}

/// An event together with the text under which the log keeps it.
package struct LogEntry: Hashable, Sendable {
    package let recorded: RecordedEvent
    package let type: String
    /// The exact JSON text.
    package let payload: String

    package init(recorded: RecordedEvent, type: String, payload: String) {
        self.recorded = recorded
        self.type = type
        self.payload = payload
    }
}

/// Something broke, or is too busy; trying again may help.
package enum Fault: Error, Hashable, Sendable {
    /// More is under way than may wait.
    case busy
    /// The database cannot be reached. A command may or may not have been obeyed.
    case unavailable
    /// What should never happen, with a sentence for operators.
    case broken(String)
}

/// Why a command was not obeyed.
package enum CommandError: Error, Hashable, Sendable {
    case refused(Refusal)
    case fault(Fault)
}
