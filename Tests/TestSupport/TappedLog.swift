package import Core
package import Service

/// The service's log, with some functions replaced by a test.
package struct TappedLog: EventLog {
    package typealias Append = @Sendable (Command) throws(CommandError) -> Outcome
    package typealias Look<Subject, State> = @Sendable (Subject) throws(Fault) -> State

    private let log: any EventLog
    private let append: Append?
    private let customer: Look<Stream, CustomerSnapshot>?
    private let project: Look<ProjectID, ProjectState>?

    package init(
        _ log: any EventLog, append: Append? = nil,
        customer: Look<Stream, CustomerSnapshot>? = nil,
        project: Look<ProjectID, ProjectState>? = nil
    ) {
        self.log = log
        self.append = append
        self.customer = customer
        self.project = project
    }

    package func append(_ command: Command) throws(CommandError) -> Outcome {
        if let append { try append(command) } else { try log.append(command) }
    }

    package func submit(_ command: Command, respond: @escaping @Sendable (CommandResult) -> Void) {
        log.submit(command, respond: respond)
    }

    package func announce(_ change: Int) { log.announce(change) }

    package func customer(of stream: Stream) throws(Fault) -> CustomerSnapshot {
        if let customer { try customer(stream) } else { try log.customer(of: stream) }
    }

    package func read(
        _ stream: Stream,
        respond: @escaping @Sendable (Result<CustomerSnapshot, Fault>) -> Void
    ) {
        log.read(stream, respond: respond)
    }

    package func project(_ project: ProjectID) throws(Fault) -> ProjectState {
        if let look = self.project { try look(project) } else { try log.project(project) }
    }

    package func events(
        of stream: Stream, after version: Int64, limit: Int
    ) throws(Fault) -> [LogEntry] {
        try log.events(of: stream, after: version, limit: limit)
    }
}
