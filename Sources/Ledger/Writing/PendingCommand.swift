import Core
import Postgres

/// A command that a committer is processing, and the caller that is waiting for the answer.
struct PendingCommand: Sendable {
    typealias Answer = Result<Outcome, CommandError>

    /// Only commands of the same kind are committed together.
    enum Kind {
        case client
        /// A command that no client waits for. It is processed only when no client's command waits.
        case background
        /// A background command whose results are rolled back.
        case rehearsal
    }
    let command: Command
    /// Table changes that come before the decision.
    var calls: [Call] = []
    var kind = Kind.client
    /// If another instance takes over this lease, the command is refused.
    var lease: Lease?
    /// How many milliseconds the command may take once a committer has picked it up.
    let patience: Int64
    /// The deadline on the monotonic clock; `nil` until a committer picks up the command.
    var deadline: Int64?
    /// How many times the command has waited for a reader to catch up with a long stream.
    var catchUps = 0
    /// Earlier catalogs that were read for the command, and the number of times that some were read.
    var past = PastCatalogs()
    var pastReads = 0
    let respond: @Sendable (Answer) -> Void
}

/// A command, with the data that earlier rounds found it to need. This is a class, so that passing it on costs one
/// reference count instead of one for each string.
final class Errand {
    let pending: PendingCommand
    let deadline: Int64
    var candidate: Candidate
    var rounds = 0

    init(_ pending: PendingCommand, at time: Int64) {
        self.pending = pending
        deadline = pending.deadline ?? time + pending.patience
        candidate = Candidate(pending.command, pending.past)
    }

    /// The shards to which the command is known to write.
    var shards: Set<Shard> {
        Set(candidate.others.map(\.shard)).union([pending.command.stream.shard])
    }

    /// Whether deciding the command takes a long time.
    var isLarge: Bool { candidate.purchases.count > 64 }

    /// Returns the same command, either with a new deadline or with the time it has left.
    func again(isRested: Bool) -> PendingCommand {
        var again = pending
        again.deadline = isRested ? nil : deadline
        return again
    }

    /// Has a reader fold the stream, then queues the command again.
    func catchUp(with stream: Stream, by reads: ReadQueue, _ queue: BoundedQueue<PendingCommand>) {
        var again = again(isRested: false)
        again.catchUps += 1
        reads.add(
            PendingRead(stream, deadline: deadline) { [again] _ in
                // The result is ignored, because a fault that stopped the reader will also stop the
                // next attempt.
                if queue.add(behind: [again]) { return }
                again.respond(.failure(.fault(.unavailable)))
            })
    }
}

extension [Errand] {
    /// The kind that the commands share.
    var kind: PendingCommand.Kind { first?.pending.kind ?? .client }

    /// Whether all of the commands write to the same shards.
    var areOfOneShard: Bool { Set(map(\.shards)).count <= 1 }

    /// Returns whether one command may cause the timeout, so that the others should not wait for it. Clients' commands
    /// get a second attempt before they are split up.
    func areSuspicious(after error: LedgerError, _ attempts: Int) -> Bool {
        if !error.isTooLong { return false }
        if kind == .client { return attempts > 1 && count > 1 }
        return attempts > 1 || count > 1
    }

    var halves: [[Errand]] { pages(of: (count + 1) / 2) }

    /// Returns the time limits for the commands' transaction.
    func pace(isSlow: Bool) -> [Call] {
        var pace = isSlow ? [ConnectionSettings.slowTransaction()] : []
        if kind == .client { return pace }
        pace.append(
            ConnectionSettings.impatientTransaction(.text("\(Committer.backgroundLockPatience)")))
        // A slow batch is split in half, and clients' commands are committed in between.
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
