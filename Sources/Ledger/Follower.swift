package import Core

/// Who keeps in memory what was read from the log, and has to hear of everything that happens to it.
package struct Follower: Sendable {
    /// How far each shard's events are known, by number of the shard.
    package var applied: @Sendable () -> [Int64]
    /// How often everything was forgotten so far. What was read before the last time is of no use.
    package var epoch: @Sendable () -> Int
    /// This instance's own commit, before those who asked for it are answered, with the customers as
    /// it left them.
    package var committed: @Sendable (Commit, _ epoch: Int) -> Void
    /// What the database says has happened. It was asked at that time on the monotonic clock.
    package var followed:
        @Sendable ([ShardChange], _ askedAt: Int64, _ isComplete: Bool, _ epoch: Int) -> Void
    /// The log may be another one now.
    package var forget: @Sendable () -> Void

    package init(
        applied: @escaping @Sendable () -> [Int64], epoch: @escaping @Sendable () -> Int,
        committed: @escaping @Sendable (Commit, _ epoch: Int) -> Void,
        followed:
            @escaping @Sendable (
                [ShardChange], _ askedAt: Int64, _ isComplete: Bool, _ epoch: Int
            ) -> Void,
        forget: @escaping @Sendable () -> Void
    ) {
        self.applied = applied
        self.epoch = epoch
        self.committed = committed
        self.followed = followed
        self.forget = forget
    }
}

extension Batch {
    /// What this batch has written, for the follower.
    var commit: Commit {
        var first: [Shard: Int64] = [:]
        var last: [Shard: Int64] = [:]
        var changed: [Shard: [ShardChange.Subject: Int64]] = [:]
        for header in entries.map(\.header) {
            let (shard, sequence) = (header.position.shard, header.position.sequence)
            first[shard] = min(first[shard] ?? sequence, sequence)
            last[shard] = max(last[shard] ?? sequence, sequence)
            let subject = ShardChange.Subject(
                header.stream, type: header.type, version: header.version)
            changed[shard, default: [:]][subject] = sequence
        }
        let changes = last.map { shard, last in
            ShardChange(
                shard, (first[shard] ?? last)...last,
                .these((changed[shard] ?? [:]).map { ShardChange.Change($0, at: $1) }))
        }
        return Commit(changes: changes) { [last] stream in
            guard let customer = folds[stream]?.state.customer, let last = last[stream.shard] else {
                return nil
            }
            return CustomerSnapshot(
                customer: customer, project: project(of: stream),
                position: Position(shard: stream.shard, sequence: last))
        }
    }
}
