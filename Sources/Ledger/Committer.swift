import Core
import JSON
import Postgres
import SQL
import Telemetry
import Threading

/// Writes the commands of some shards: all that wait in one transaction, in two round trips.
///
/// While it commits, the next batch gathers. A batch that the database refuses is redone one by
/// one, so that only the command to blame is refused. When the connection breaks, nobody can tell
/// whether the batch was committed; it is run again, and the causes that were recorded tell.
struct Committer: ~Copyable {
    static let batchLimit = 512
    private static let pauseBetweenAttempts: Int64 = 20

    private let queue: BoundedQueue<PendingCommand>
    private let cache: StateCache
    private let clock: @Sendable () -> Instant
    private let log: Log
    private let batchSizes: Histogram
    private let commitTimes: Histogram
    private var link: Link

    init(
        queue: BoundedQueue<PendingCommand>, cache: StateCache, settings: LedgerSettings, log: Log,
        measures: LedgerMeasures
    ) {
        self.queue = queue
        self.cache = cache
        self.log = log
        clock = settings.clock
        batchSizes = measures.batchSizes
        commitTimes = measures.commitTimes
        link = Link(settings.connection) { cache.forget() }
    }

    /// Commits until the queue is closed and empty.
    mutating func run() {
        while let batch = queue.take(upTo: Committer.batchLimit) { commit(batch) }
    }

    /// Tries until every command has its answer: committed, refused, or out of time.
    private mutating func commit(_ batch: [PendingCommand]) {
        var waiting = withoutOverdue(batch)
        var attempts = 0
        while !waiting.isEmpty {
            do throws(LedgerError) {
                attempts += 1
                try attempt(waiting)
                if attempts > 1 { log.info("commit_succeeded", ["attempts": .integer(attempts)]) }
                return
            } catch {
                guard error.isPassing else {
                    isolate(waiting, error)
                    return
                }
                if attempts == 1 {
                    log.warning("commit_retried", ["reason": .string(error.description)])
                }
                waiting = withoutOverdue(waiting)
                if !waiting.isEmpty { pause(milliseconds: Committer.pauseBetweenAttempts) }
            }
        }
    }

    private func withoutOverdue(_ batch: [PendingCommand]) -> [PendingCommand] {
        let now = monotonicMilliseconds()
        for pending in batch where pending.deadline <= now {
            pending.answer(.failure(.fault(.unavailable)))
        }
        return batch.filter { $0.deadline > now }
    }

    /// Gives each command a transaction of its own; the one that is to blame gets the error.
    private mutating func isolate(_ batch: [PendingCommand], _ error: LedgerError) {
        if batch.count > 1 {
            for pending in batch { commit([pending]) }
        } else if let refusal = error.refusal {
            for pending in batch { pending.answer(.failure(.refused(refusal))) }
        } else {
            log.error("command_failed", ["reason": .string(error.description)])
            for pending in batch { pending.answer(.failure(.fault(error.fault))) }
        }
    }

    private mutating func attempt(_ batch: [PendingCommand]) throws(LedgerError) {
        let started = monotonicMicroseconds()
        let commands = batch.map(\.command)
        var answers: [Result<Outcome, CommandError>] = []
        let decided = try link.settled { connection throws(LedgerError) in
            var batch = try connection.lockAndLoad(
                Set(commands.map(\.stream)), for: commands, cache: cache, clock)
            answers = commands.map { command in
                Result { () throws(Refusal) in try batch.decide(command) }
                    .mapError(CommandError.refused)
            }
            if !batch.entries.isEmpty { try connection.execute(batch.writes) }
            return batch
        }
        for (stream, state) in decided.states { cache.keep(state, of: stream) }
        for (pending, answer) in zip(batch, answers) { pending.answer(answer) }
        batchSizes.record(Int64(batch.count))
        commitTimes.record(monotonicMicroseconds() - started)
    }
}
