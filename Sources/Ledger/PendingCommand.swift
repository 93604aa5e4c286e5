import Core
import Threading

/// A command on its way through a committer, and the place where its sender waits.
final class PendingCommand: Sendable {
    let command: Command
    let deadline: Int64
    private let result = Monitor<Result<Outcome, CommandError>?>(nil)

    init(_ command: Command, deadline: Int64) {
        self.command = command
        self.deadline = deadline
    }

    func answer(_ answer: Result<Outcome, CommandError>) {
        result.change(wake: .one) { $0 = answer }
    }

    /// The answer; `nil` when the time is up first.
    func wait(milliseconds: Int64) -> Result<Outcome, CommandError>? {
        result.wait(milliseconds: milliseconds) { $0 }
    }
}
