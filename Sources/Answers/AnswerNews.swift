import Core
package import Following
import Synchronization

/// How the cache follows the log.
///
/// It first notes the changed streams, so that older readings are not kept, and drops answers in
/// other shards that include them. Then it drops the shard's own answers, and only then advances
/// the shard's position. No answer ever claims a position at which it does not hold.
extension AnswerCache: LogReader {
    package var interest: Interest { Interest() }

    package var place: [Int64] { partitions.map { $0.withLock(\.applied) } }

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
        for stretch in commit.stretches {
            take(stretch, since: moment) { stream, sequence in
                replace(stream, by: commit.customer, at: sequence, time, since: moment)
            }
        }
        for (stream, sequence) in commit.unchanged where applied(of: stream.shard) < sequence {
            // The sender's answer may already include another instance's commit.
            note(stream, at: sequence)
            change(stream.shard) { $0.drop(stream, before: sequence) }
        }
        for (project, version) in commit.rules { outdate(project, before: version, since: moment) }
    }

    package func take(_ news: [Stretch], askedAt: Int64, since moment: Moment) {
        for stretch in news {
            take(stretch, since: moment) { stream, sequence in
                self.change(stream.shard) { $0.drop(stream, before: sequence) }
            }
        }
        guard news.allSatisfy(\.isComplete) else { return }
        clearedAt.withLock { clearedAt in
            if clearedAt <= moment { confirmedAt.store(askedAt, ordering: .relaxed) }
        }
    }

    /// Processes a stretch of a shard. `body` decides what happens to a customer's own answer.
    private func take(
        _ stretch: Stretch, since moment: Moment,
        _ body: (Stream, _ sequence: Int64) -> Void
    ) {
        // Each stream with its last position.
        var customers: [Stream: Int64] = [:]
        for event in stretch.events {
            if !event.stream.isOfProject {
                customers[event.stream] = event.position.sequence
            } else if EventType(named: event.type)?.changesAnswers ?? true {
                outdate(event.stream.project, before: event.version, since: moment)
            }
        }
        for (stream, sequence) in customers { note(stream, at: sequence) }
        for (stream, sequence) in customers { body(stream, sequence) }
        change(stretch.shard, since: moment) { $0.advance(from: stretch.start, to: stretch.end) }
    }

    /// Notes that the stream changed, and drops other streams' answers that include it.
    private func note(_ stream: Stream, at sequence: Int64) {
        change(stream.shard) { $0.note(stream, at: sequence) }
        guard stream.environment == .sandbox else { return }
        let (production, now) = (stream.inProduction, advanceMoment())
        change(production.shard) { $0.drop(production, beforeSandbox: sequence, at: now) }
    }

    /// Committers render no state with more events than this.
    private static let renderedVersions: Int64 = 500

    /// Replaces a cached answer with the one after this commit.
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
