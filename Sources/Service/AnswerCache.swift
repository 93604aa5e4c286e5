package import Core
import Synchronization

/// The answers about recently read customers as ready bytes, right until the log or the clock
/// changes them.
///
/// It follows the log: this instance's own commits replace answers before their senders hear of
/// them, and the tail tells of everybody else's. So it is known of each shard up to where its
/// answers hold. An answer is kept only if nothing happened to its stream since it was read.
package final class AnswerCache: Sendable {
    /// Renders what was read of a customer.
    package typealias Render = @Sendable (EntitlementsAnswer) -> ReadyAnswer

    /// What was read before everything had to be forgotten is not kept.
    package struct Beginning: Sendable {
        let epoch: Int
        let time: Int64
    }

    /// An answer, and since when nobody confirmed it.
    struct Held {
        let answer: ReadyAnswer
        let position: Position
        let confirmedAt: Int64
    }

    let partitions: [GuardedPartition]
    let render: Render
    let now: @Sendable () -> Instant
    private let monotonicClock: @Sendable () -> Int64
    /// The versions of rules that every partition knows.
    let rules = Mutex<[ProjectID: Int64]>([:])
    let onProjects: Mutex<@Sendable () -> Void>
    let newestEpoch = Atomic(0)
    /// Held while everything is let go of.
    let clearing = Mutex(())
    /// When the tail last asked and was told everything.
    let confirmedAt = Atomic(AnswerCache.never)

    static let never = Int64.min / 2

    /// A cache of so many bytes, roughly. `monotonicClock` gives milliseconds.
    package init(
        bytes: Int, now: @escaping @Sendable () -> Instant,
        monotonicClock: @escaping @Sendable () -> Int64, render: @escaping Render
    ) {
        partitions = Shard.all.map { _ in GuardedPartition(limit: bytes / Shard.count) }
        self.now = now
        self.monotonicClock = monotonicClock
        self.render = render
        onProjects = Mutex({})
    }

    /// `body` is called whenever a project has changed: its keys, its apps, its settings.
    package func whenProjectsChange(_ body: @escaping @Sendable () -> Void) {
        onProjects.withLock { $0 = body }
    }

    func partition(of shard: Shard) -> Int { Int(shard.number) }

    // MARK: Reading

    /// The answer about a customer, as far as it is known.
    func find(_ stream: Stream, at now: Instant) -> Held? {
        partitions[partition(of: stream.shard)].withLock { partition -> Held? in
            guard let found = partition.find(stream, at: now) else { return nil }
            return Held(
                answer: found.answer,
                position: Position(shard: stream.shard, sequence: found.sequence),
                confirmedAt: max(found.confirmedAt, confirmedAt.load(ordering: .relaxed)))
        }
    }

    /// Up to where the shard's events are known.
    func applied(of shard: Shard) -> Int64 {
        partitions[partition(of: shard)].withLock(\.applied)
    }

    package var tally: AnswerTally {
        var tally = AnswerTally()
        for partition in partitions { tally.add(partition.withLock(\.tally)) }
        return tally
    }

    /// Milliseconds since the tail was last told everything, a day at most.
    package var lag: Int64 { min(time() - confirmedAt.load(ordering: .relaxed), 86_400_000) }

    func time() -> Int64 { monotonicClock() }

    // MARK: Keeping

    /// To be taken before the database is asked.
    package func begin() -> Beginning {
        Beginning(epoch: newestEpoch.load(ordering: .acquiring), time: time())
    }

    /// Keeps what the database was asked for after `beginning`, and gives it as ready bytes.
    func keep(_ answer: EntitlementsAnswer, since beginning: Beginning) -> ReadyAnswer {
        let ready = render(answer)
        let home = partition(of: answer.stream.shard)
        spreadRules(of: answer, from: home, epoch: beginning.epoch)
        guard let sandbox = answer.sandbox else {
            partitions[home].withLock { partition in
                if partition.epoch == beginning.epoch {
                    partition.keep(ready, confirmedAt: beginning.time)
                }
            }
            return ready
        }
        let other = partition(of: sandbox.shard)
        if other == home {
            partitions[home].withLock { partition in
                guard partition.epoch == beginning.epoch,
                    partition.isCurrent(answer.stream.inSandbox, at: sandbox.sequence)
                else { return }
                partition.keep(ready, confirmedAt: beginning.time)
            }
            return ready
        }
        // Both at once, so that no change of the sandbox comes between; always in the same order.
        partitions[min(home, other)].withLock { first in
            partitions[max(home, other)].withLock { second in
                let isCurrent =
                    home < other
                    ? second.isCurrent(answer.stream.inSandbox, at: sandbox.sequence)
                    : first.isCurrent(answer.stream.inSandbox, at: sandbox.sequence)
                guard isCurrent, first.epoch == beginning.epoch,
                    second.epoch == beginning.epoch
                else { return }
                if home < other {
                    first.keep(ready, confirmedAt: beginning.time)
                } else {
                    second.keep(ready, confirmedAt: beginning.time)
                }
            }
        }
        return ready
    }
}
