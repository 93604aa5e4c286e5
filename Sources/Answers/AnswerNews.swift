import Core
package import Following
import Synchronization

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
