import Core
package import Following
import Synchronization

/// The part of the cache that follows the log.
///
/// The cache first marks the changed streams, so that it does not keep older states of them, and
/// removes answers in other shards that include them. Then it removes the shard's own answers, and
/// only then advances the shard's position. An answer therefore never claims a position at which it
/// is not valid.
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
            // The sender's answer may already reflect a commit by another instance.
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

    /// Processes a stretch of a shard. `body` is called for each customer to deal with the
    /// customer's own answer.
    private func take(
        _ stretch: Stretch, since moment: Moment,
        _ body: (Stream, _ sequence: Int64) -> Void
    ) {
        // The last position of each stream in the stretch.
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

    /// Records that the stream has changed, and removes the answers about other streams that
    /// include it.
    private func note(_ stream: Stream, at sequence: Int64) {
        change(stream.shard) { $0.note(stream, at: sequence) }
        guard stream.environment == .sandbox else { return }
        let (production, now) = (stream.inProduction, advanceMoment())
        change(production.shard) { $0.drop(production, beforeSandbox: sequence, at: now) }
    }

    /// A committing thread renders answers only from states with at most this many events.
    private static let renderedVersions: Int64 = 500

    /// Replaces a cached answer with the answer after this commit.
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
