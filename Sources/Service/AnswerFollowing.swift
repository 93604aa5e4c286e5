package import Core
import Synchronization

/// How the cache hears of what happens to the log.
///
/// A change goes through three steps. First its streams are marked, so that nothing read before it is
/// kept any more; then answers in other shards that depend on them go; then those of its own shard,
/// and the shard counts as known that far. So no answer claims a position that it does not hold at.
extension AnswerCache {
    package var applied: [Int64] { partitions.map { $0.withLock(\.applied) } }

    package var epoch: Int { newestEpoch.load(ordering: .acquiring) }

    /// Lets go of everything, and of how long the log was: it may be another one.
    package func forget() { clear(keepsApplied: false) }

    private func clear(keepsApplied: Bool) {
        clearing.withLock { _ in
            let epoch = newestEpoch.add(1, ordering: .acquiringAndReleasing).newValue
            if !keepsApplied { confirmedAt.store(AnswerCache.never, ordering: .relaxed) }
            rules.withLock { $0 = [:] }
            for partition in partitions {
                partition.withLock {
                    $0.clear(for: epoch, applied: keepsApplied ? $0.applied : 0)
                }
            }
        }
        tellOfProjects()
    }

    private func tellOfProjects() {
        let body = onProjects.withLock { $0 }
        body()
    }

    /// Takes in a commit of this instance.
    package func follow(_ commit: Commit, epoch: Int) {
        let time = time()
        for change in commit.changes {
            guard case .these(let changes) = change.extent else { continue }
            spread(changes, epoch: epoch)
            for case (.customer(let stream), let sequence) in changes.map(\.parts) {
                replace(stream, by: commit.customer, at: sequence, time: time, epoch: epoch)
            }
            advance(over: change, epoch: epoch)
        }
        for (stream, sequence) in commit.unchanged {
            change(stream.shard) { partition in
                if partition.applied >= sequence { return }
                // What another instance wrote may be in what the sender is told now.
                partition.note(stream, at: sequence)
                partition.drop(stream, before: sequence)
            }
            guard stream.environment == .sandbox else { continue }
            let production = stream.inProduction
            change(production.shard) { $0.drop(production, beforeSandbox: sequence) }
        }
        for (project, version) in commit.rules {
            outdate(project, before: version, epoch: epoch)
        }
    }

    /// Takes in what the database told at `askedAt` of all instances' commits; nothing else had
    /// happened by then when that `isComplete`.
    package func follow(
        _ changes: [ShardChange], askedAt: Int64, isComplete: Bool, epoch: Int
    ) {
        var epoch = epoch
        let isAnything = changes.contains { if case .anything = $0.extent { true } else { false } }
        if isAnything {
            guard self.epoch == epoch else { return }
            clear(keepsApplied: true)
            epoch = self.epoch
        }
        for change in changes {
            if case .these(let changes) = change.extent {
                spread(changes, epoch: epoch)
                for case (.customer(let stream), let sequence) in changes.map(\.parts) {
                    self.change(stream.shard) { $0.drop(stream, before: sequence) }
                }
            }
            advance(over: change, epoch: epoch)
        }
        guard isComplete else { return }
        clearing.withLock { _ in
            if self.epoch == epoch { confirmedAt.store(askedAt, ordering: .relaxed) }
        }
    }

    /// Marks what changed, and lets go of what depends on it elsewhere.
    private func spread(_ changes: [ShardChange.Change], epoch: Int) {
        for case (.customer(let stream), let sequence) in changes.map(\.parts) {
            change(stream.shard) { $0.note(stream, at: sequence) }
            guard stream.environment == .sandbox else { continue }
            let production = stream.inProduction
            change(production.shard) { $0.drop(production, beforeSandbox: sequence) }
        }
        for (subject, _) in changes.map(\.parts) {
            switch subject {
            case .customer: break
            case .rules(let project, let version):
                outdate(project, before: version, epoch: epoch)
                tellOfProjects()
            case .keys: tellOfProjects()
            }
        }
    }

    /// No answer that was derived by older rules is given any more.
    func outdate(_ project: ProjectID, before version: Int64, epoch: Int) {
        let isKnown = rules.withLock { $0[project].map { version <= $0 } ?? false }
        if isKnown { return }
        for shard in Shard.all {
            change(shard, in: epoch) { $0.outdate(project, before: version) }
        }
        clearing.withLock { _ in
            guard self.epoch == epoch else { return }
            rules.withLock { $0[project] = max($0[project] ?? 0, version) }
        }
    }

    /// The same for the rules of an answer that is about to be kept. Its partition remembers what all of
    /// them were told: one lock that everybody takes for each answer would hold up all of them.
    func spreadRules(of answer: EntitlementsAnswer, from home: Int, epoch: Int) {
        let (project, version) = (answer.stream.project, answer.rules)
        if partitions[home].withLock({ $0.isSpread(version, of: project) }) { return }
        outdate(project, before: version, epoch: epoch)
        partitions[home].withLock { partition in
            if partition.epoch == epoch { partition.noteSpread(version, of: project) }
        }
    }

    /// States with more events are not rendered by those who commit.
    private static let renderedVersions: Int64 = 500

    /// Puts the answer by what the commit left in place of one that is held.
    private func replace(
        _ stream: Stream, by customer: (Stream) -> CustomerSnapshot?, at sequence: Int64,
        time: Int64, epoch: Int
    ) {
        let isHeld = partitions[partition(of: stream.shard)].withLock { $0.holds(stream) }
        guard isHeld else { return }
        guard let snapshot = customer(stream),
            snapshot.customer.version <= AnswerCache.renderedVersions,
            !snapshot.includesSandbox(of: stream)
        else { return change(stream.shard) { $0.drop(stream, before: sequence) } }
        let answer = EntitlementsAnswer(CustomerView(snapshot, of: stream), at: now())
        let ready = render(answer)
        change(stream.shard) { partition in
            partition.drop(stream, before: sequence)
            if partition.epoch == epoch { partition.keep(ready, confirmedAt: time) }
        }
    }

    private func advance(over change: ShardChange, epoch: Int) {
        self.change(change.shard, in: epoch) { partition in
            if case .anything = change.extent {
                partition.skip(to: change.positions.upperBound)
            } else {
                partition.advance(over: change.positions)
            }
        }
    }

    private func change(_ shard: Shard, _ body: (inout AnswerPartition) -> Void) {
        partitions[partition(of: shard)].withLock { body(&$0) }
    }

    /// Changes a partition, unless everything was let go of since that epoch.
    private func change(
        _ shard: Shard, in epoch: Int, _ body: (inout AnswerPartition) -> Void
    ) {
        change(shard) { partition in
            if partition.epoch == epoch { body(&partition) }
        }
    }
}

extension ShardChange.Change {
    fileprivate var parts: (subject: ShardChange.Subject, sequence: Int64) { (subject, sequence) }
}
