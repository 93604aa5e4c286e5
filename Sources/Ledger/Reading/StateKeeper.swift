import Core
import JSON
import Postgres
import SQL
import Synchronization
import Telemetry
import Threading

/// Keeps the states of long streams beside the log. A separate thread and connection ensure that commits and reads
/// never wait for it. If a state cannot be written, the keeper tries again once the stream has grown further.
final class StateKeeper: Sendable {
    private struct Item {
        let stream: Stream
        let state: CustomerState
        /// How many times the log had started over when the state was read.
        let epoch: Int
        /// Whether the currently kept state is unreadable.
        let isReplacement: Bool
        let weight: Int
    }
    /// The maximum number of states that may wait.
    private static let queueLimit = 64
    /// The limit on the total size of the waiting states.
    private static let weightLimit = 64 << 20
    /// Larger states are not kept.
    private static let byteLimit = 32 << 20
    private static let damageLimit = 1000

    private let queue = BoundedQueue<Item>(limit: StateKeeper.queueLimit)
    private let damaged = Mutex<Set<Stream>>([])
    private let weight = Atomic(0)
    private let isClosing = Atomic(false)

    /// Takes the fold's state if the stream has grown enough since the last state was kept.
    func keep(_ fold: inout Fold, of stream: Stream, askedIn epoch: Int) {
        guard let state = fold.stateToKeep else { return }
        let added = state.weight
        if added > StateKeeper.byteLimit { return }
        let isReplacement = damaged.withLock { $0.contains(stream) }
        let item = Item(
            stream: stream, state: state, epoch: epoch, isReplacement: isReplacement,
            weight: added)
        let total = weight.add(added, ordering: .relaxed).newValue
        guard total <= StateKeeper.weightLimit, queue.add(item) else {
            weight.subtract(added, ordering: .relaxed)
            return
        }
        fold.noteKept()
        if isReplacement { damaged.withLock { _ = $0.remove(stream) } }
    }

    /// Records that the stream's kept state must be replaced.
    func noteDamage(of stream: Stream) {
        damaged.withLock { damaged in
            if damaged.count < StateKeeper.damageLimit { damaged.insert(stream) }
        }
    }

    /// Writes states until the keeper is closed.
    func run(
        _ settings: ConnectionSettings, known: LogGuard, condition: DatabaseCondition, log: Log,
        kept: Counter, greet: @escaping Greeting
    ) {
        var link = Link(settings, greet: greet)
        while let items = queue.take(upTo: 1) {
            for item in items { weight.subtract(item.weight, ordering: .relaxed) }
            if isClosing.load(ordering: .relaxed) { continue }
            for item in items where condition.barrier == nil {
                do throws(LedgerError) {
                    if try write(item, &link, known) { kept.add() }
                } catch {
                    log.warning("state_not_kept", ["reason": .string(error.description)])
                }
            }
        }
    }

    func close() {
        isClosing.store(true, ordering: .relaxed)
        queue.close()
    }

    private func write(
        _ item: Item, _ link: inout Link, _ known: LogGuard
    ) throws(LedgerError) -> Bool {
        let content = KeptState.content(of: item.state)
        if content.count > StateKeeper.byteLimit { return false }
        let (stream, version) = (item.stream, item.state.version)
        let digest = KeptState.digest(of: content, stream, version: version)
        return try link.settled { connection throws(LedgerError) in
            // This check comes last, because a reopened connection may lead to a different log.
            if known.epoch != item.epoch { return false }
            let keep = Statement.keepState(
                .int2(stream.shard.number), .text(stream.project.text),
                .text(stream.environment.rawValue), .text(stream.customer.text), .int8(version),
                .int2(KeptState.number), .bytea(content), .bytea(digest),
                .bool(item.isReplacement))
            try connection.execute([keep])
            return true
        }
    }
}
