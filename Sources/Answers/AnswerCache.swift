package import Core
import Synchronization

/// A place in the order in which the cache hears of things.
package typealias Moment = Int

/// The answers about recently read customers as ready bytes, right until the log or the clock
/// changes them.
///
/// It follows the log: this instance's own commits replace answers before their senders hear of
/// them, and the reader of the log reports those of all others. So the cache knows for each shard up to where
/// its answers hold. An answer is kept only if nothing happened to its stream since it was asked for.
package final class AnswerCache: Sendable {
    /// Renders what was read of a customer.
    package typealias Render = @Sendable (EntitlementsAnswer) -> ReadyAnswer

    /// When the database was asked.
    package struct Beginning: Sendable {
        let moment: Moment
        let time: Int64
    }

    /// An answer, where it stands in the log, and since when nothing confirmed it.
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
    let newest = Atomic<Moment>(0)
    /// When everything was let go of last; held while that is done.
    let clearedAt = Mutex<Moment>(0)
    /// When the log was last heard of to its end.
    let confirmedAt = Atomic(Int64.min / 2)

    /// A cache of about that many bytes. `monotonicClock` gives milliseconds.
    package init(
        bytes: Int, now: @escaping @Sendable () -> Instant,
        monotonicClock: @escaping @Sendable () -> Int64, render: @escaping Render
    ) {
        partitions = Shard.all.map { _ in GuardedPartition(limit: bytes / Shard.count) }
        self.now = now
        self.monotonicClock = monotonicClock
        self.render = render
    }

    // MARK: Reading

    /// The answer about a customer, as far as it is known.
    func find(_ stream: Stream, at now: Instant) -> Held? {
        change(stream.shard) { partition -> Held? in
            guard let found = partition.find(stream, at: now) else { return nil }
            let sequence = max(found.answer.sequence, partition.applied)
            return Held(
                answer: found.answer, position: Position(shard: stream.shard, sequence: sequence),
                confirmedAt: max(found.confirmedAt, confirmedAt.load(ordering: .relaxed)))
        }
    }

    /// Up to where the shard's events are known.
    func applied(of shard: Shard) -> Int64 { change(shard) { $0.applied } }

    package var tally: AnswerTally {
        var tally = AnswerTally()
        for partition in partitions { tally.add(partition.withLock(\.tally)) }
        return tally
    }

    /// Milliseconds since the log was last heard of to its end, a day at most.
    package var lag: Int64 { min(time() - confirmedAt.load(ordering: .relaxed), 86_400_000) }

    func time() -> Int64 { monotonicClock() }

    // MARK: Keeping

    /// To be taken before the database is asked.
    package func begin() -> Beginning { Beginning(moment: moment, time: time()) }

    /// Keeps what the database was asked for after `beginning`, and gives it as ready bytes.
    func keep(_ answer: EntitlementsAnswer, since beginning: Beginning) -> ReadyAnswer {
        let ready = render(answer)
        outdate(answer.stream.project, before: answer.rules, since: beginning.moment)
        change(answer.stream.shard) {
            $0.keep(ready, since: beginning.moment, confirmedAt: beginning.time)
        }
        return ready
    }

    /// No answer that was derived by older rules is given any more.
    func outdate(_ project: ProjectID, before version: Int64, since moment: Moment) {
        if rules.withLock({ version <= $0[project, default: 0] }) { return }
        for shard in Shard.all {
            change(shard, since: moment) { $0.outdate(project, before: version) }
        }
        clearedAt.withLock { clearedAt in
            guard clearedAt <= moment else { return }
            rules.withLock { $0[project] = max($0[project, default: 0], version) }
        }
    }

    func change<Result: Sendable>(
        _ shard: Shard, _ body: (inout AnswerPartition) -> Result
    ) -> Result {
        partitions[Int(shard.number)].withLock(body)
    }

    /// Changes a partition, unless everything was let go of since that moment.
    func change(
        _ shard: Shard, since moment: Moment, _ body: (inout AnswerPartition) -> Void
    ) {
        change(shard) { partition in
            if partition.clearedAt <= moment { body(&partition) }
        }
    }
}

/// What became of answers so far, and how many there are.
package struct AnswerTally: Hashable, Sendable {
    package fileprivate(set) var hits: Int64 = 0
    package fileprivate(set) var misses: Int64 = 0
    package fileprivate(set) var evictions: Int64 = 0
    package fileprivate(set) var bytes: Int64 = 0
    package fileprivate(set) var entries: Int64 = 0

    mutating func add(_ other: AnswerTally) {
        hits += other.hits
        misses += other.misses
        evictions += other.evictions
        bytes += other.bytes
        entries += other.entries
    }
}

/// The ready answers about the customers of one shard.
///
/// Making room gives every answer a second chance: a hand goes round, takes the mark off
/// answers that were used since its last visit, and removes answers without one. That comes close to removing
/// what was used least recently, and a use costs no more than setting the mark.
struct AnswerPartition {
    /// An answer, and since when nothing confirmed it.
    struct Held {
        let answer: ReadyAnswer
        var confirmedAt: Int64
        fileprivate var isUsed = false

        fileprivate init(_ answer: ReadyAnswer, confirmedAt: Int64) {
            self.answer = answer
            self.confirmedAt = confirmedAt
        }

        /// Bytes of memory that it takes, roughly: what grows by doubling is half empty.
        fileprivate var weight: Int {
            answer.weight
                + 2
                * (2 * MemoryLayout<Int>.stride + MemoryLayout<Stream>.stride
                    + MemoryLayout<Held>.stride)
        }
    }
    private static let marks = 256

    private(set) var tally = AnswerTally()
    /// Up to where every event of the shard was taken in.
    private(set) var applied: Int64 = 0
    /// When everything was let go of last.
    private(set) var clearedAt: Moment = 0
    /// In bytes.
    private let limit: Int
    private var held: [Held] = []
    private var places: [Stream: Int] = [:]
    private var hand = 0
    /// The newest rules that are known; answers by older ones are not given.
    private var rules = KnownRules()
    /// The last sequence at which any of the streams changed that share a mark. What was read of
    /// one of them before that is not kept any more.
    private var changed = [Int64](repeating: 0, count: AnswerPartition.marks)
    /// The same of their sandboxes, which lie in other shards: what was asked for before is not kept.
    private var sandboxChangedAt = [Moment](repeating: 0, count: AnswerPartition.marks)

    init(limit: Int) {
        self.limit = limit
    }

    // MARK: Reading

    mutating func find(_ stream: Stream, at now: Instant) -> Held? {
        guard let place = places[stream] else { return miss() }
        let found = held[place]
        guard found.answer.holds(at: now), rules.allow(found.answer) else { return miss() }
        // Written only when it changes: otherwise each read would write memory.
        if !found.isUsed { held[place].isUsed = true }
        tally.hits += 1
        return found
    }

    private mutating func miss() -> Held? {
        tally.misses += 1
        return nil
    }

    func holds(_ stream: Stream) -> Bool { places[stream] != nil }

    // MARK: Keeping

    /// Keeps the answer unless it is outdated, or would need more room than there is for many.
    /// It was asked for at that moment.
    mutating func keep(_ answer: ReadyAnswer, since moment: Moment, confirmedAt: Int64) {
        let new = Held(answer, confirmedAt: confirmedAt)
        let mark = AnswerPartition.mark(of: answer.stream)
        guard clearedAt <= moment, changed[mark] <= answer.sequence,
            answer.sandboxSequence == nil || sandboxChangedAt[mark] <= moment,
            rules.allow(answer), new.weight <= limit / 4
        else { return }
        if let place = places[answer.stream] {
            if answer.isOlder(than: held[place].answer) { return }
            remove(place)
        }
        while Int(tally.bytes) + new.weight > limit { evict() }
        places[answer.stream] = held.count
        held.append(new)
        tally.bytes += Int64(new.weight)
        tally.entries += 1
    }

    /// Takes the mark off the next answer, or removes it when it has none.
    private mutating func evict() {
        if hand >= held.count { hand = 0 }
        if held[hand].isUsed {
            held[hand].isUsed = false
            hand += 1
        } else {
            // The last one moves to where it was, and is looked at next.
            remove(hand)
            tally.evictions += 1
        }
    }

    private mutating func remove(_ place: Int) {
        held.swapAt(place, held.count - 1)
        guard let gone = held.popLast() else { return }
        if place < held.count { places[held[place].answer.stream] = place }
        places[gone.answer.stream] = nil
        tally.bytes -= Int64(gone.weight)
        tally.entries -= 1
    }

    // MARK: Following the log

    /// Notes that the stream changed, so that nothing older is kept any more.
    mutating func note(_ stream: Stream, at sequence: Int64) {
        let mark = AnswerPartition.mark(of: stream)
        changed[mark] = max(changed[mark], sequence)
    }

    /// Lets go of what was read of the stream before that.
    mutating func drop(_ stream: Stream, before sequence: Int64) {
        guard let place = places[stream], held[place].answer.sequence < sequence else { return }
        remove(place)
    }

    /// Lets go of what includes the sandbox as it was before that, also of what is being read.
    mutating func drop(_ stream: Stream, beforeSandbox sequence: Int64, at moment: Moment) {
        let mark = AnswerPartition.mark(of: stream)
        sandboxChangedAt[mark] = max(sandboxChangedAt[mark], moment)
        guard let place = places[stream], let known = held[place].answer.sandboxSequence,
            known < sequence
        else { return }
        remove(place)
    }

    mutating func outdate(_ project: ProjectID, before version: Int64) {
        rules.note(project, version)
    }

    /// Everything behind the one position and up to the other was taken in.
    mutating func advance(from start: Int64, to end: Int64) {
        if start <= applied { applied = max(applied, end) }
    }

    /// Lets go of everything; what was asked for before is not kept any more.
    mutating func clear(at moment: Moment, applied: Int64) {
        var fresh = AnswerPartition(limit: limit)
        fresh.clearedAt = moment
        fresh.applied = applied
        fresh.tally.hits = tally.hits
        fresh.tally.misses = tally.misses
        fresh.tally.evictions = tally.evictions + tally.entries
        self = fresh
    }

    private static func mark(of stream: Stream) -> Int { abs(stream.hashValue % marks) }
}

/// The newest versions of projects' rules.
private struct KnownRules {
    private var versions: [ProjectID: Int64] = [:]
    private var highest: Int64 = 0

    mutating func note(_ project: ProjectID, _ version: Int64) {
        versions[project] = max(versions[project, default: 0], version)
        highest = max(highest, version)
    }

    /// Whether the answer was not derived by older ones.
    func allow(_ answer: ReadyAnswer) -> Bool {
        // Most answers are as new as any rules: then no project has to be looked up.
        highest <= answer.rules || versions[answer.stream.project, default: 0] <= answer.rules
    }
}

/// A partition and its lock.
final class GuardedPartition: Sendable {
    private let partition: Mutex<AnswerPartition>

    init(limit: Int) {
        partition = Mutex(AnswerPartition(limit: limit))
    }

    func withLock<Result: Sendable>(
        _ body: (inout AnswerPartition) -> Result
    ) -> Result {
        partition.withLock { partition in body(&partition) }
    }
}
