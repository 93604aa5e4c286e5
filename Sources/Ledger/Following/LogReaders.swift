import Core
import Crypto
import Following
import Synchronization

/// The in-memory readers that follow the log.
final class LogReaders: Sendable {
    private let readers = Mutex<[any LogReader]>([])

    func add(_ reader: any LogReader) { readers.withLock { $0.append(reader) } }

    /// The readers, each with its current moment. Call this before starting a batch or querying the log.
    var listeners: [(reader: any LogReader, moment: Int)] {
        readers.withLock { $0 }.map { ($0, $0.moment) }
    }
}

extension Batch {
    /// Returns the events that this batch wrote, and the states that it saw.
    func commit(isWhole: Bool) -> Commit {
        let written = Dictionary(grouping: entries, by: \.header.position.shard)
        let firsts = written.mapValues { $0[0].header.position.sequence }
        let stretches = written.compactMap { shard, entries -> Stretch? in
            guard let first = firsts[shard], let head = heads[shard] else { return nil }
            return Stretch(
                shard, after: first - 1, to: head.sequence, entries.map { $0.logged(isWhole) })
        }
        var commit = Commit(stretches) { stream in
            guard let customer = folds[stream]?.state.customer, let head = heads[stream.shard]
            else { return nil }
            return CustomerSnapshot(
                customer: customer, project: project(of: stream),
                position: Position(shard: stream.shard, sequence: head.sequence))
        }
        let changed = Set(entries.lazy.map(\.header.stream))
        for (stream, fold) in folds {
            if let project = fold.state.project {
                commit.rules.append((stream.project, project.rulesVersion))
            } else if let head = heads[stream.shard], !changed.contains(stream) {
                commit.unchanged.append((stream, (firsts[stream.shard] ?? head.sequence + 1) - 1))
            }
        }
        return commit
    }
}

extension NewEntry {
    fileprivate func logged(_ isWhole: Bool) -> LoggedEvent {
        var content: LoggedEvent.Content?
        if isWhole {
            content = LoggedEvent.Content(
                header.record, payload: payload, format: header.format, chain: link.chain.bytes)
        }
        return LoggedEvent(
            header.position, of: header.stream, version: header.version, type: header.type,
            content: content)
    }
}
