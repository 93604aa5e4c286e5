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
    /// What this batch has written and seen, for the follower.
    var commit: Commit {
        var written: [Shard: Written] = [:]
        for entry in entries {
            written[entry.header.position.shard, default: Written()].add(entry.header)
        }
        var commit = Commit { [written] stream in
            guard let customer = folds[stream]?.state.customer,
                let last = written[stream.shard]?.positions?.upperBound
            else { return nil }
            return CustomerSnapshot(
                customer: customer, project: project(of: stream),
                position: Position(shard: stream.shard, sequence: last))
        }
        commit.changes = written.compactMap { shard, written in
            written.positions.map { ShardChange(shard, $0, .these(written.changes)) }
        }
        for (stream, fold) in folds {
            if let project = fold.state.project {
                commit.rules.append((stream.project, project.rulesVersion))
            } else if let head = heads[stream.shard] {
                let written = written[stream.shard]
                if written?.holds(stream) == true { continue }
                let before = written?.positions.map { $0.lowerBound - 1 } ?? head.sequence
                commit.unchanged.append((stream, before))
            }
        }
        return commit
    }
}

/// What was written to one shard.
private struct Written {
    private(set) var positions: ClosedRange<Int64>?
    private var sequences: [ShardChange.Subject: Int64] = [:]

    mutating func add(_ header: EventHeader) {
        let sequence = header.position.sequence
        positions = (positions?.lowerBound ?? sequence)...sequence
        let subject = ShardChange.Subject(
            header.stream, type: header.type, version: header.version)
        sequences[subject] = sequence
    }

    func holds(_ stream: Stream) -> Bool { sequences[.customer(stream)] != nil }

    var changes: [ShardChange.Change] { sequences.map { ShardChange.Change($0, at: $1) } }
}
