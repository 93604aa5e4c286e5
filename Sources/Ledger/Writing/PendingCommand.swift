import Core
import Postgres

/// A command on its way through a committer, and who waits for its answer.
struct PendingCommand: Sendable {
    typealias Answer = Result<Outcome, CommandError>

    /// Commands of one kind are committed together.
    enum Kind {
        case client
        /// No client waits for it: it is taken up when no client's command waits.
        case background
        /// The same, and what it leads to is taken back.
        case rehearsal
    }
    let command: Command
    /// What is done to the tables in front of what is decided.
    var calls: [Call] = []
    var kind = Kind.client
    /// It is refused once another instance has taken that over.
    var lease: Lease?
    /// In milliseconds: how long it may take once a committer has taken it up.
    let patience: Int64
    /// By the clock that only moves forward; `nil` until it counts.
    var deadline: Int64?
    let respond: @Sendable (Answer) -> Void
}

/// A command with what was learned of it in earlier rounds. A class, so that handing it on counts one
/// reference and not one for each text in it.
final class Errand {
    let pending: PendingCommand
    let deadline: Int64
    var candidate: Candidate
    var rounds = 0

    init(_ pending: PendingCommand, at time: Int64) {
        self.pending = pending
        deadline = pending.deadline ?? time + pending.patience
        candidate = Candidate(pending.command)
    }

    /// The shards that it writes, as far as is known.
    var shards: Set<Shard> {
        Set(candidate.others.map(\.shard)).union([pending.command.stream.shard])
    }

    /// Whether it takes its time to be decided.
    var isLarge: Bool { candidate.purchases.count > 64 }

    /// The same command once more, with the time that it has left or with all of it again.
    func again(isRested: Bool) -> PendingCommand {
        var again = pending
        again.deadline = isRested ? nil : deadline
        return again
    }
}

extension [Errand] {
    /// What kind all of them are.
    var kind: PendingCommand.Kind { first?.pending.kind ?? .client }

    /// Whether all of them write the same shards.
    var areOfOneShard: Bool { Set(map(\.shards)).count <= 1 }

    var halves: [[Errand]] { pages(of: (count + 1) / 2) }
}
