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
        result.change { $0 = answer }
    }

    func wait() -> Result<Outcome, CommandError> {
        result.wait { $0 }
    }
}

/// The commands that wait for a committer; bounded.
final class CommandQueue: Sendable {
    private struct State {
        var waiting: [PendingCommand] = []
        var isClosed = false
    }
    private let state = Monitor(State())
    private let limit: Int

    init(limit: Int) {
        self.limit = limit
    }

    var depth: Int { state.change(wake: .nobody) { $0.waiting.count } }

    /// False when the queue is full or closed.
    func add(_ pending: PendingCommand) -> Bool {
        state.change(wake: .one) { state in
            if state.isClosed || state.waiting.count >= limit { return false }
            state.waiting.append(pending)
            return true
        }
    }

    /// Everything that waits, up to `count`; `nil` once the queue is closed and empty.
    func take(upTo count: Int) -> [PendingCommand]? {
        state.wait { state -> [PendingCommand]?? in
            if state.waiting.isEmpty { return state.isClosed ? .some(nil) : nil }
            let batch = Array(state.waiting.prefix(count))
            state.waiting.removeFirst(batch.count)
            return batch
        }
    }

    func close() {
        state.change { $0.isClosed = true }
    }
}
