import Core
import Following
import JSON
import Postgres
import SQL
import Telemetry
import Threading
import Wording

/// Commits the commands for some shards. All waiting commands share one transaction and two round trips.
///
/// While a batch commits, the next one gathers. A command that proves to concern further streams is decided again
/// with those locked. If the database refuses a batch, each command is tried alone, so that only the faulty one is
/// refused. If the connection breaks, the batch may or may not have been committed. It runs again, and the recorded
/// causes show which commands were carried out.
struct Committer: ~Copyable {
    typealias Given = GivenAnswer<PendingCommand.Answer>

    static let batchLimit = 512
    /// A batch of this size suggests that many senders are active, but is not yet large.
    private static let crowd = 8..<16
    private static let gatheringPause: Int64 = 1
    /// The maximum number of pauses before a batch.
    private static let pauseLimit = 4
    private static let pauseBetweenAttempts: Int64 = 20
    /// How long a batch waits for shards that another session has locked before the other shards go
    /// first. Background batches wait only briefly, because clients wait for them.
    static let (lockPatience, backgroundLockPatience) = (300, 50)
    /// The time limit for a statement that serves several background commands.
    static let backgroundPatience = 500
    /// How many times a command may prove to concern yet another stream, or may lose a purchase to
    /// another customer's claim.
    private static let roundLimit = 8
    /// If the cache lacks this many events of a stream, a reader folds the stream first, while no
    /// shard is locked. A command that has waited for a reader too often loads the events itself.
    private static let (lateEvents, catchUpLimit) = (128, 4)

    private let queue: BoundedQueue<PendingCommand>
    private let announced: Announced
    private let answers: BoundedQueue<Given>
    private let reads: ReadQueue
    private let cache: StateCache
    private let filed = FiledCertificates()
    private let past: PastReader
    private let readers: LogReaders
    private let clocks: Clocks
    private let condition: DatabaseCondition
    private let known: LogGuard
    private let unread: UnreadStreams
    private let log: Log
    private let batchSizes: Histogram
    private let commitTimes: Histogram
    private let blocked: Counter
    /// When a blocking event was last logged, by shard.
    private var alarms: [Shard: Int64] = [:]
    private static let pauseBetweenAlarms: Int64 = 60_000
    private var link: Link
    /// Commands for shards that another session has held for a long time.
    private var setAside: [Errand] = []
    private var turns = 0
    private static let turnsToQueue = 10

    init(
        queue: BoundedQueue<PendingCommand>, announced: Announced, answers: BoundedQueue<Given>,
        reads: ReadQueue, cache: StateCache, past: PastReader, readers: LogReaders,
        settings: LedgerSettings,
        clocks: Clocks, condition: DatabaseCondition, known: LogGuard, unread: UnreadStreams,
        greet: @escaping Greeting, log: Log, measures: LedgerMeasures
    ) {
        self.queue = queue
        self.announced = announced
        self.answers = answers
        self.reads = reads
        self.cache = cache
        self.past = past
        self.readers = readers
        self.log = log
        self.clocks = clocks
        self.condition = condition
        self.known = known
        self.unread = unread
        batchSizes = measures.batchSizes
        commitTimes = measures.commitTimes
        blocked = measures.blocked
        var connection = settings.connection
        connection.lockTimeoutMilliseconds = Committer.lockPatience
        link = Link(connection) {
            [filed] connection, isFirst throws(PostgresError) in
            try greet(&connection, isFirst)
            if !isFirst { filed.forget() }
        }
    }

    /// Commits until the queue is closed and empty.
    mutating func run() {
        while let batch = take() {
            if batch.first?.kind != .client, !batch.isEmpty {
                commit(errands(batch))
            } else if setAside.isEmpty {
                commit(errands(gathered(batch)))
            } else {
                commitFree(errands(batch))
            }
        }
        answers.close()
    }

    /// Returns the next commands to commit, possibly none; `nil` once the queue is closed and empty.
    private func take() -> [PendingCommand]? {
        if setAside.isEmpty { return queue.take(upTo: Committer.batchLimit) }
        return queue.take(upTo: Committer.batchLimit, within: Committer.pauseBetweenAttempts)
    }

    private func errands(_ batch: [PendingCommand]) -> [Errand] {
        let time = monotonicMilliseconds()
        return batch.map { Errand($0, at: time) }
    }

    /// Commits commands for shards that no other session holds. The rest have to wait, because the
    /// holder may be a suspended process.
    private mutating func commitFree(_ new: [Errand]) {
        let errands = withoutOverdue(setAside + new, .busy)
        setAside = []
        turns += 1
        // Every few turns, queues for the lock, because a contended shard might otherwise never be found free.
        if new.isEmpty, turns % Committer.turnsToQueue == 0 { return commit(errands) }
        commit(settingAside(errands))
    }

    /// Returns the commands whose shards are free, and sets the others aside.
    private mutating func settingAside(_ errands: [Errand]) -> [Errand] {
        let shards = Set(errands.flatMap(\.shards)).sorted()
        var free = Set<Shard>()
        do throws(LedgerError) {
            try link.settled { connection throws(LedgerError) in
                let find = Statement.findFreeShards(.int2s(shards.map(\.number)))
                // A row lock is written to PostgreSQL's WAL, so a commit would cause a sync and a wait for a standby.
                try connection.read([Statement.begin(), find, Statement.rollback()]) {
                    index, rows in
                    if index != 1 { return }
                    for row in 0..<rows.count { free.insert(Shard(number: rows.int2(row, 0))) }
                }
            }
        } catch {
            // Any other fault will recur in the next attempt to commit, which reports it.
            if !error.isLockedOut { free = Set(shards) }
        }
        let (going, held) = errands.reduce(into: ([Errand](), [Errand]())) { parts, errand in
            if errand.shards.isSubset(of: free) {
                parts.0.append(errand)
            } else {
                parts.1.append(errand)
            }
        }
        setAside += held
        return going
    }

    /// Returns the batch, extended by commands that arrive in the next moment if many senders are active. A commit of a
    /// dozen commands costs about as much as a commit of fifty.
    private func gathered(_ batch: [PendingCommand]) -> [PendingCommand] {
        var batch = batch
        var pauses = 0
        while batch.count < Committer.crowd.upperBound, pauses < Committer.pauseLimit,
            announced.areMany || pauses == 0 && Committer.crowd.contains(batch.count)
        {
            pause(milliseconds: Committer.gatheringPause)
            let more = queue.takeWaiting(upTo: Committer.batchLimit - batch.count)
            // The announced commands went to another committer, or will not come.
            if more.isEmpty { break }
            batch += more
            pauses += 1
        }
        return batch
    }

    /// Retries until every command has its answer: committed, refused, or out of time.
    private mutating func commit(_ errands: [Errand]) {
        var waiting = withoutOverdue(errands)
        var (attempts, overtaken) = (0, 0)
        while !waiting.isEmpty {
            do throws(LedgerError) {
                if let barrier = condition.barrier { throw .impeded(barrier) }
                attempts += 1
                waiting = withoutExhausted(
                    try attempt(waiting, isSlow: attempts > 1 || waiting.contains(where: \.isLarge))
                )
                if attempts > 1 { log.info("commit_succeeded", ["attempts": .integer(attempts)]) }
                attempts = 0
            } catch {
                if error.isOvertaken {
                    overtaken += 1
                    waiting = withoutExhausted(waiting)
                    // If the conflict recurs, a single command may be the cause, and the others
                    // must not wait for it.
                    guard overtaken > 1, waiting.count > 1 else { continue }
                    isolate(waiting, error)
                    return
                }
                if error.isLackOfRoom { condition.noteFull() }
                if error.isOfAll {
                    // The code that noticed the fault logs it.
                    for errand in waiting { answer(errand.pending, .failure(.fault(error.fault))) }
                    return
                }
                if error.isLockedOut {
                    waiting = withoutOverdue(waiting, .busy)
                    if waiting.kind != .client { return putBehind([waiting], areRested: false) }
                    waiting = settingAside(waiting)
                    continue
                }
                guard error.isPassing, !waiting.areSuspicious(after: error, attempts) else {
                    isolate(waiting, error)
                    return
                }
                if attempts == 1 {
                    log.warning("commit_retried", ["reason": .string(error.description)])
                }
                waiting = withoutOverdue(waiting, error.fault)
                if !waiting.isEmpty { pause(milliseconds: Committer.pauseBetweenAttempts) }
            }
        }
    }

    private func answer(_ pending: PendingCommand, _ answer: PendingCommand.Answer) {
        give([Given(answer: answer, respond: pending.respond)])
    }

    private func give(_ given: [Given]) {
        // This queue needs no limit, because the number of requests in flight is limited.
        answers.add(given)
    }

    /// Returns the commands with time left, and answers the others with `fault`.
    private func withoutOverdue(
        _ errands: [Errand], _ fault: Fault = .unavailable
    ) -> [Errand] {
        let now = monotonicMilliseconds()
        return errands.filter { errand in
            if errand.deadline > now { return true }
            answer(errand.pending, .failure(.fault(fault)))
            return false
        }
    }

    /// Returns the commands that may go through another round, and answers the others.
    private func withoutExhausted(_ errands: [Errand]) -> [Errand] {
        errands.filter { errand in
            if errand.candidate.mayLack { errand.rounds += 1 }
            if errand.rounds < Committer.roundLimit { return true }
            answer(errand.pending, .failure(.fault(.busy)))
            return false
        }
    }

    /// Gives each command its own transaction, so that only the faulty one gets the error. Background
    /// commands are split in half instead, and clients' commands are committed in between.
    private mutating func isolate(_ errands: [Errand], _ error: LedgerError) {
        if errands.count > 1, !error.isBlocked || !errands.areOfOneShard {
            if errands.kind != .client { return putBehind(errands.halves, areRested: true) }
            for errand in errands { commit([errand]) }
        } else if let refusal = error.refusal {
            for errand in errands { answer(errand.pending, .failure(.refused(refusal))) }
        } else {
            if error.isBlocked {
                alarm(errands)
            } else if errands.kind == .client {
                log.error("command_failed", ["reason": .string(error.description)])
            }
            for errand in errands {
                // The command needs this row, which is outside the log.
                unread.note(errand.pending.command.stream, error.fault)
                answer(errand.pending, .failure(.fault(error.fault(of: errand.pending))))
            }
        }
    }

    private func putBehind(_ batches: [[Errand]], areRested: Bool) {
        for errands in batches where !errands.isEmpty {
            if queue.add(behind: errands.map { $0.again(isRested: areRested) }) { continue }
            for errand in errands { answer(errand.pending, .failure(.fault(.unavailable))) }
        }
    }

    /// Counts commands that an event beyond the head blocks, and occasionally logs each blocked shard.
    private mutating func alarm(_ errands: [Errand]) {
        let now = monotonicMilliseconds()
        for shard in errands.map(\.pending.command.stream.shard) {
            blocked.add()
            if let last = alarms[shard], now - last < Committer.pauseBetweenAlarms { continue }
            alarms[shard] = now
            log.error(
                "log_blocked",
                [
                    "shard": .integer(Int(shard.number)),
                    "reason": .string(Fault.logBlocked.withRemedy),
                ])
        }
    }

    /// Commits and answers the commands that can be decided. Returns the commands that must be decided again.
    private mutating func attempt(
        _ errands: [Errand], isSlow: Bool
    ) throws(LedgerError) -> [Errand] {
        let started = monotonicMicroseconds()
        let listeners = readers.listeners
        let kind = errands.kind
        let pace = errands.pace(isSlow: isSlow)
        let isLate = errands.contains { $0.pending.catchUps >= Committer.catchUpLimit }
        let limit = isLate ? nil : Committer.lateEvents
        var decisions: [Result<Outcome, Undecided>] = []
        var certificates: Set<KeptCertificate> = []
        var epoch = 0
        let decided = try link.settled { connection throws(LedgerError) in
            epoch = known.epoch
            var batch = try connection.lockAndLoad(
                errands.map(\.candidate), cache: cache, clocks, pace, limit: limit)
            decisions = errands.map { errand in
                Result { () throws(Undecided) in try batch.obey(errand.candidate) }
            }
            // Uncommitted work is rolled back.
            if kind == .rehearsal { return batch }
            if let lease = errands.first?.pending.lease { try connection.require(lease) }
            if !batch.isEmpty {
                let evidence = EvidenceRows(batch.evidence, besides: filed)
                certificates = evidence.certificates
                let calls = zip(errands, decisions).flatMap { errand, decision in
                    decision.isObeyed ? errand.pending.calls : []
                }
                try connection.execute(calls + batch.writes(with: evidence))
            } else if decisions.contains(where: \.isObeyed) {
                // An answer about an earlier commit must be as safe as one about a new commit. This
                // commit ensures that a required standby has confirmed the earlier one.
                try connection.execute([Statement.commit()])
            }
            return batch
        }
        for (stream, fault) in decided.unreadable { unread.note(stream, fault) }
        if kind != .rehearsal {
            known.note(decided.marks, askedIn: epoch)
            if !decided.isEmpty { condition.noteRoom() }
            filed.add(certificates)
            cache.observe(decided.heads)
            // Background work touches many streams that are unlikely to be needed again soon.
            if kind == .client {
                for (stream, fold) in decided.folds { cache.keep(fold, of: stream, askedIn: epoch) }
            }
            if !listeners.isEmpty {
                let commit = decided.commit(
                    isWhole: listeners.contains { $0.reader.interest.isWhole })
                for (reader, moment) in listeners { reader.hear(commit, since: moment) }
            }
        }
        return settle(errands, decisions, since: started)
    }

    /// Answers the decided commands. Returns the others.
    private func settle(
        _ errands: [Errand], _ decisions: [Result<Outcome, Undecided>], since started: Int64
    ) -> [Errand] {
        var given: [Given] = []
        var (again, early): ([Errand], [Errand]) = ([], [])
        var needs: [PastNeed] = []
        for (errand, decision) in zip(errands, decisions) {
            let answer: PendingCommand.Answer
            switch decision {
            case .success(let outcome): answer = .success(outcome)
            case .failure(.refused(let refusal)): answer = .failure(.refused(refusal))
            case .failure(.fault(let fault)):
                if errands.kind == .client {
                    log.error("command_failed", ["reason": .string(fault.withRemedy)])
                }
                answer = .failure(.fault(fault))
            case .failure(.behind(let streams)):
                for stream in streams.prefix(1) { errand.catchUp(with: stream, by: reads, queue) }
                continue
            case .failure(.lacking(let lack)):
                errand.candidate.learn(lack)
                again.append(errand)
                continue
            case .failure(.lackingCatalogs(let more)):
                early.append(errand)
                needs += more
                continue
            }
            given.append(Given(answer: answer, respond: errand.pending.respond))
        }
        early.wait(for: needs, by: past, queue)
        if errands.kind == .client {
            // The sizes are recorded before the answers are given, so that a caller with an answer finds the commit in
            // the metrics.
            batchSizes.record(Int64(given.count))
            commitTimes.record(monotonicMicroseconds() - started)
        }
        give(given)
        return again
    }
}
