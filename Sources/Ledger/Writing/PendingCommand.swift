import Core
import Postgres

/// A command on its way through a committer, and the caller who waits for its answer.
struct PendingCommand: Sendable {
    typealias Answer = Result<Outcome, CommandError>

    /// Commands of one kind are committed together.
    enum Kind {
        case client
        /// No client waits for it: it is taken up only if no client's command waits.
        case background
        /// A background command whose results are rolled back.
        case rehearsal
    }
    let command: Command
    /// Changes to the tables before the decision.
    var calls: [Call] = []
    var kind = Kind.client
    /// If another instance takes this lease over, the command is refused.
    var lease: Lease?
    /// How many milliseconds it may take once a committer has taken it up.
    let patience: Int64
    /// By the monotonic clock; `nil` until it applies.
    var deadline: Int64?
    let respond: @Sendable (Answer) -> Void
}

/// A command with what earlier rounds learnt about it. A class, so that passing it on costs one
/// reference count instead of one for each text in it.
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

    /// The shards that it is known to write.
    var shards: Set<Shard> {
        Set(candidate.others.map(\.shard)).union([pending.command.stream.shard])
    }

    /// Whether deciding it takes long.
    var isLarge: Bool { candidate.purchases.count > 64 }

    /// The same command again, with its remaining time or with all of it again.
    func again(isRested: Bool) -> PendingCommand {
        var again = pending
        again.deadline = isRested ? nil : deadline
        return again
    }
}

extension [Errand] {
    /// The kind of all of them.
    var kind: PendingCommand.Kind { first?.pending.kind ?? .client }

    /// Whether all of them write the same shards.
    var areOfOneShard: Bool { Set(map(\.shards)).count <= 1 }

    var halves: [[Errand]] { pages(of: (count + 1) / 2) }
}
