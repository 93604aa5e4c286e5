package import Core
package import Following
import Synchronization

/// A place in the order in which the cache hears of things.
package typealias Moment = Int

/// The answers about recently read customers as ready bytes, right until the log or the clock
/// changes them.
///
/// It follows the log: this instance's own commits replace answers before their senders hear of
/// them, and the reader of the log reports those of all others. So the cache knows for each shard up to where
/// its answers hold. An answer is kept only if nothing happened to its stream since it was asked for.
package final class AnswerCache: Sendable {
    /// Renders what was read of a customer.
    package typealias Render = @Sendable (EntitlementsAnswer) -> ReadyAnswer

    /// When the database was asked.
    package struct Beginning: Sendable {
        let moment: Moment
        let time: Int64
    }

    /// An answer, where it stands in the log, and since when nothing confirmed it.
    struct Held {
        let answer: ReadyAnswer
        let position: Position
        let confirmedAt: Int64
    }

    private let partitions: [GuardedPartition]
    let render: Render
    let now: @Sendable () -> Instant
    private let monotonicClock: @Sendable () -> Int64
    /// The versions of rules that every partition knows.
    private let rules = Mutex<[ProjectID: Int64]>([:])
    private let newest = Atomic<Moment>(0)
    /// When everything was let go of last; held while that is done.
    private let clearedAt = Mutex<Moment>(0)
    /// When the log was last heard of to its end.
    private let confirmedAt = Atomic(Int64.min / 2)

    /// A cache of about that many bytes. `monotonicClock` gives milliseconds.
    package init(
        bytes: Int, now: @escaping @Sendable () -> Instant,
        monotonicClock: @escaping @Sendable () -> Int64, render: @escaping Render
    ) {
        partitions = Shard.all.map { _ in GuardedPartition(limit: bytes / Shard.count) }
        self.now = now
        self.monotonicClock = monotonicClock
        self.render = render
    }

    // MARK: Reading

    /// The answer about a customer, as far as it is known.
    func find(_ stream: Stream, at now: Instant) -> Held? {
        change(stream.shard) { partition -> Held? in
            guard let found = partition.find(stream, at: now) else { return nil }
            let sequence = max(found.answer.sequence, partition.applied)
            return Held(
                answer: found.answer, position: Position(shard: stream.shard, sequence: sequence),
                confirmedAt: max(found.confirmedAt, confirmedAt.load(ordering: .relaxed)))
        }
    }

    /// Up to where the shard's events are known.
    func applied(of shard: Shard) -> Int64 { change(shard) { $0.applied } }

    package var tally: AnswerTally {
        var tally = AnswerTally()
        for partition in partitions { tally.add(partition.withLock(\.tally)) }
        return tally
    }

    /// Milliseconds since the log was last heard of to its end, a day at most.
    package var lag: Int64 { min(time() - confirmedAt.load(ordering: .relaxed), 86_400_000) }

    func time() -> Int64 { monotonicClock() }

    // MARK: Keeping

    /// To be taken before the database is asked.
    package func begin() -> Beginning { Beginning(moment: moment, time: time()) }

    /// Keeps what the database was asked for after `beginning`, and gives it as ready bytes.
    func keep(_ answer: EntitlementsAnswer, since beginning: Beginning) -> ReadyAnswer {
        let ready = render(answer)
        outdate(answer.stream.project, before: answer.rules, since: beginning.moment)
        change(answer.stream.shard) {
            $0.keep(ready, since: beginning.moment, confirmedAt: beginning.time)
        }
        return ready
    }

    /// No answer that was derived by older rules is given any more.
    private func outdate(_ project: ProjectID, before version: Int64, since moment: Moment) {
        if rules.withLock({ version <= $0[project, default: 0] }) { return }
        for shard in Shard.all {
            change(shard, since: moment) { $0.outdate(project, before: version) }
        }
        clearedAt.withLock { clearedAt in
            guard clearedAt <= moment else { return }
            rules.withLock { $0[project] = max($0[project, default: 0], version) }
        }
    }

    private func change<Result: Sendable>(
        _ shard: Shard, _ body: (inout AnswerPartition) -> Result
    ) -> Result {
        partitions[Int(shard.number)].withLock(body)
    }

    /// Changes a partition, unless everything was let go of since that moment.
    private func change(
        _ shard: Shard, since moment: Moment, _ body: (inout AnswerPartition) -> Void
    ) {
        change(shard) { partition in
            if partition.clearedAt <= moment { body(&partition) }
        }
    }
}

/// How the cache hears of what happens to the log.
///
/// First it is noted which streams changed, so that nothing read of them before is kept, and answers in
/// other shards that include them go; then those of the shard itself; and then it counts as known that far.
/// So no answer claims a position that it does not hold at.
extension AnswerCache: Subscriber {
    package var heard: [Int64] { partitions.map { $0.withLock(\.applied) } }

    package var moment: Moment { newest.load(ordering: .acquiring) }

    private func advanceMoment() -> Moment {
        newest.add(1, ordering: .acquiringAndReleasing).newValue
    }

    package func restart(at heads: [Int64], askedAt: Int64) {
        clearedAt.withLock { clearedAt in
            clearedAt = advanceMoment()
            rules.withLock { $0 = [:] }
            for (partition, head) in zip(partitions, heads) {
                partition.withLock { $0.clear(at: clearedAt, applied: head) }
            }
            confirmedAt.store(askedAt, ordering: .relaxed)
        }
    }

    package func hear(_ commit: Commit, since moment: Moment) {
        let time = time()
        for change in commit.changes {
            take(change, since: moment) { stream, sequence in
                replace(stream, by: commit.customer, at: sequence, time, since: moment)
            }
        }
        for (stream, sequence) in commit.unchanged where applied(of: stream.shard) < sequence {
            // What another instance wrote may be in the answer that the sender gets now.
            note(stream, at: sequence)
            change(stream.shard) { $0.drop(stream, before: sequence) }
        }
        for (project, version) in commit.rules { outdate(project, before: version, since: moment) }
    }

    package func hear(_ news: LogNews, since moment: Moment) {
        for change in news.changes {
            take(change, since: moment) { stream, sequence in
                self.change(stream.shard) { $0.drop(stream, before: sequence) }
            }
        }
        guard news.isComplete else { return }
        clearedAt.withLock { clearedAt in
            if clearedAt <= moment { confirmedAt.store(news.askedAt, ordering: .relaxed) }
        }
    }

    /// Takes in a stretch of a shard; what becomes of a customer's own answer is up to `body`.
    private func take(
        _ change: ShardChange, since moment: Moment,
        _ body: (Stream, _ sequence: Int64) -> Void
    ) {
        for (subject, sequence) in change.subjects {
            switch subject {
            case .customer(let stream): note(stream, at: sequence)
            case .rules(let project, let version):
                outdate(project, before: version, since: moment)
            case .keys: break
            }
        }
        for case (.customer(let stream), let sequence) in change.subjects { body(stream, sequence) }
        self.change(change.shard, since: moment) { $0.advance(over: change.positions) }
    }

    /// Notes that the stream changed, and drops other answers that include it.
    private func note(_ stream: Stream, at sequence: Int64) {
        change(stream.shard) { $0.note(stream, at: sequence) }
        guard stream.environment == .sandbox else { return }
        let (production, now) = (stream.inProduction, advanceMoment())
        change(production.shard) { $0.drop(production, beforeSandbox: sequence, at: now) }
    }

    /// States with more events are not rendered by those who commit.
    private static let renderedVersions: Int64 = 500

    /// Puts the answer by what the commit left in place of one that is held.
    private func replace(
        _ stream: Stream, by customer: (Stream) -> CustomerSnapshot?, at sequence: Int64,
        _ time: Int64, since moment: Moment
    ) {
        guard change(stream.shard, { $0.holds(stream) }) else { return }
        var ready: ReadyAnswer?
        if let snapshot = customer(stream),
            snapshot.customer.version <= AnswerCache.renderedVersions,
            !snapshot.includesSandbox(of: stream)
        {
            let view = CustomerView(snapshot, of: stream)
            ready = render(EntitlementsAnswer(view, at: now()))
        }
        change(stream.shard) { partition in
            partition.drop(stream, before: sequence)
            if let ready { partition.keep(ready, since: moment, confirmedAt: time) }
        }
    }
}
