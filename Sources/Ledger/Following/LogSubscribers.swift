import Core
import Following
import Synchronization

/// Those who follow the log.
final class LogSubscribers: Sendable {
    /// One of them, and where it stood before something was begun.
    struct Listener {
        let subscriber: any Subscriber
        let moment: Int
    }
    private let subscribers = Mutex<[any Subscriber]>([])

    func add(_ subscriber: any Subscriber) { subscribers.withLock { $0.append(subscriber) } }

    var listeners: [Listener] {
        subscribers.withLock { $0 }.map { Listener(subscriber: $0, moment: $0.moment) }
    }
}

extension Batch {
    /// What this batch has written and seen, for those who follow the log.
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
            written.positions.map { ShardChange(shard, $0, written.subjects) }
        }
        for (stream, fold) in folds {
            if let project = fold.state.project {
                commit.rules.append((stream.project, project.rulesVersion))
            } else if let head = heads[stream.shard] {
                let written = written[stream.shard]
                if written?.subjects[.customer(stream)] != nil { continue }
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
    private(set) var subjects: [ShardChange.Subject: Int64] = [:]

    mutating func add(_ header: EventHeader) {
        let sequence = header.position.sequence
        positions = (positions?.lowerBound ?? sequence)...sequence
        let subject = ShardChange.Subject(
            header.stream, type: header.type, version: header.version)
        subjects[subject] = sequence
    }
}
