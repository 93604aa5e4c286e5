import Core

/// A command on its way through a committer, and who waits for its answer.
struct PendingCommand: Sendable {
    typealias Answer = Result<Outcome, CommandError>

    let command: Command
    /// By the clock that only moves forward.
    let deadline: Int64
    let respond: @Sendable (Answer) -> Void
}
