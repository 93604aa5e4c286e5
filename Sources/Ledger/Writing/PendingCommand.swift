import Core
import Postgres

/// A command on its way through a committer, and the caller waiting for its answer.
struct PendingCommand: Sendable {
    typealias Answer = Result<Outcome, CommandError>

    /// Commands of one kind are committed together.
    enum Kind {
        case client
        /// No client waits for the command. It is taken up only when no client's command waits.
        case background
        /// A background command whose results are rolled back.
        case rehearsal
    }
    let command: Command
    /// Changes to the tables before the decision.
    var calls: [Call] = []
    var kind = Kind.client
    /// The command is refused if another instance takes over this lease.
    var lease: Lease?
    /// How many milliseconds the command may take once a committer has taken it up.
    let patience: Int64
    /// On the monotonic clock; `nil` until a committer takes up the command.
    var deadline: Int64?
    /// How many times it has waited for a reader to catch up with a long stream.
    var catchUps = 0
    let respond: @Sendable (Answer) -> Void
}

/// A command with the needs found in earlier rounds. It is a class, because passing it on then
/// costs one reference count instead of one for each text.
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

    /// The shards that the command is known to write.
    var shards: Set<Shard> {
        Set(candidate.others.map(\.shard)).union([pending.command.stream.shard])
    }

    /// Whether deciding the command takes a long time.
    var isLarge: Bool { candidate.purchases.count > 64 }

    /// The same command, with a new deadline or the remaining time.
    func again(isRested: Bool) -> PendingCommand {
        var again = pending
        again.deadline = isRested ? nil : deadline
        return again
    }

    /// Lets a reader fold the stream, and queues the command again.
    func catchUp(with stream: Stream, by reads: ReadQueue, _ queue: BoundedQueue<PendingCommand>) {
        var again = again(isRested: false)
        again.catchUps += 1
        reads.add(
            PendingRead(stream, deadline: deadline) { [again] _ in
                // If something stopped the reader, it would stop the next attempt as well.
                if queue.add(behind: [again]) { return }
                again.respond(.failure(.fault(.unavailable)))
            })
    }
}

extension [Errand] {
    /// The commands' common kind.
    var kind: PendingCommand.Kind { first?.pending.kind ?? .client }

    /// Whether all of them write the same shards.
    var areOfOneShard: Bool { Set(map(\.shards)).count <= 1 }

    var halves: [[Errand]] { pages(of: (count + 1) / 2) }

    /// Time limits for their transaction.
    func pace(isSlow: Bool) -> [Call] {
        var pace = isSlow ? [ConnectionSettings.slowTransaction()] : []
        if kind == .client { return pace }
        pace.append(
            ConnectionSettings.impatientTransaction(.text("\(Committer.backgroundLockPatience)")))
        // A slow batch is halved, and clients' commands go in between.
        if count > 1 {
            pace.append(
                ConnectionSettings.quickTransaction(.text("\(Committer.backgroundPatience)")))
        }
        return pace
    }
}

extension Result where Success == Outcome, Failure == Undecided {
    var isObeyed: Bool {
        if case .success = self { true } else { false }
    }
}
