package import Core
import Synchronization

/// A logical time that orders the cache's updates.
package typealias Moment = Int

/// A cache of rendered answers about recently read customers. An answer is valid until the log or the clock
/// changes it.
///
/// The cache follows the log. Commits by this instance replace answers before the senders get replies. The
/// log's reader reports all other commits. For each shard, the cache therefore knows up to which position its
/// answers are valid. It keeps an answer only if the stream has not changed since the answer was requested.
package final class AnswerCache: Sendable {
    /// A function that renders an answer about a customer.
    package typealias Render = @Sendable (EntitlementsAnswer) -> ReadyAnswer

    /// The instant at which the database was queried.
    package struct Beginning: Sendable {
        let moment: Moment
        let time: Int64
    }

    /// An answer, and when it was last confirmed.
    struct Held {
        let answer: ReadyAnswer
        let position: Position
        let confirmedAt: Int64
    }

    let partitions: [GuardedPartition]
    let render: Render
    let now: @Sendable () -> Instant
    private let monotonicClock: @Sendable () -> Int64
    /// The rules versions known to all partitions.
    let rules = Mutex<[ProjectID: Int64]>([:])
    let newest = Atomic<Moment>(0)
    /// When the cache was last cleared. This lock is held while the cache is cleared.
    let clearedAt = Mutex<Moment>(0)
    /// When the log was last read to its end.
    let confirmedAt = Atomic(Int64.min / 2)

    /// Creates a cache of roughly this many bytes. `monotonicClock` returns milliseconds.
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

    /// Returns the cached answer about a customer; `nil` if there is none.
    func find(_ stream: Stream, at now: Instant) -> Held? {
        change(stream.shard) { partition -> Held? in
            guard let found = partition.find(stream, at: now) else { return nil }
            let sequence = max(found.answer.sequence, partition.applied)
            return Held(
                answer: found.answer, position: Position(shard: stream.shard, sequence: sequence),
                confirmedAt: max(found.confirmedAt, confirmedAt.load(ordering: .relaxed)))
        }
    }

    /// Returns the position up to which the shard's events have been processed.
    func applied(of shard: Shard) -> Int64 { change(shard) { $0.applied } }

    package var tally: AnswerTally {
        var tally = AnswerTally()
        for partition in partitions { tally.add(partition.withLock(\.tally)) }
        return tally
    }

    /// How many milliseconds ago the log was last read to its end, limited to one day.
    package var lag: Int64 { min(time() - confirmedAt.load(ordering: .relaxed), 86_400_000) }

    func time() -> Int64 { monotonicClock() }

    // MARK: Keeping

    /// Marks the start of a read. Call this before the database is queried.
    package func begin() -> Beginning { Beginning(moment: moment, time: time()) }

    /// Caches an answer that was requested from the database after `beginning`, and returns the
    /// rendered answer.
    func keep(_ answer: EntitlementsAnswer, since beginning: Beginning) -> ReadyAnswer {
        let ready = render(answer)
        outdate(answer.stream.project, before: answer.rules, since: beginning.moment)
        change(answer.stream.shard) {
            $0.keep(ready, since: beginning.moment, confirmedAt: beginning.time)
        }
        return ready
    }

    /// Stops returning answers derived from rules older than `version`.
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

    /// Changes a partition, unless the cache has been cleared since `moment`.
    func change(
        _ shard: Shard, since moment: Moment, _ body: (inout AnswerPartition) -> Void
    ) {
        change(shard) { partition in
            if partition.clearedAt <= moment { body(&partition) }
        }
    }
}

/// How many answers the cache has returned so far, and how many it holds.
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

/// The rendered answers about the customers of one shard.
///
/// The clock algorithm evicts answers. A hand moves around the list, clears the mark of
/// each answer used since its last visit, and removes answers without a mark. This approximates
/// evicting the least recently used answer, but a use only has to set a mark.
struct AnswerPartition {
    /// An answer, and when it was last confirmed.
    struct Held {
        let answer: ReadyAnswer
        var confirmedAt: Int64
        fileprivate var isUsed = false

        fileprivate init(_ answer: ReadyAnswer, confirmedAt: Int64) {
            self.answer = answer
            self.confirmedAt = confirmedAt
        }

        /// The approximate size in bytes. It is doubled because arrays that double in size as they
        /// grow can be half empty.
        fileprivate var weight: Int {
            answer.weight
                + 2
                * (2 * MemoryLayout<Int>.stride + MemoryLayout<Stream>.stride
                    + MemoryLayout<Held>.stride)
        }
    }
    private static let marks = 256

    private(set) var tally = AnswerTally()
    /// The position up to which all of the shard's events have been processed.
    private(set) var applied: Int64 = 0
    /// When the cache was last cleared.
    private(set) var clearedAt: Moment = 0
    /// The maximum size in bytes.
    private let limit: Int
    private var held: [Held] = []
    private var places: [Stream: Int] = [:]
    private var hand = 0
    /// The newest known rules. Answers derived from older rules are not returned.
    private var rules = KnownRules()
    /// Streams are grouped under marks. For each mark, the last sequence at which one of its streams changed. Older
    /// states of that mark's streams are not cached.
    private var changed = [Int64](repeating: 0, count: AnswerPartition.marks)
    /// For each mark, when the sandbox counterpart of one of its streams last changed. A customer's
    /// sandbox is in another shard.
    private var sandboxChangedAt = [Moment](repeating: 0, count: AnswerPartition.marks)

    init(limit: Int) {
        self.limit = limit
    }

    // MARK: Reading

    mutating func find(_ stream: Stream, at now: Instant) -> Held? {
        guard let place = places[stream] else { return miss() }
        let found = held[place]
        guard found.answer.holds(at: now), rules.allow(found.answer) else { return miss() }
        // The mark is set only if it is not set yet, because a read should not write to memory.
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

    /// Caches the answer that was requested at `moment`, unless it is outdated or too large.
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

    /// Clears the mark of the next answer, or removes the answer if it has no mark.
    private mutating func evict() {
        if hand >= held.count { hand = 0 }
        if held[hand].isUsed {
            held[hand].isUsed = false
            hand += 1
        } else {
            // The last answer in the list moves to this place, where the hand checks it next.
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

    /// Records that the stream has changed. Its older states are no longer cached.
    mutating func note(_ stream: Stream, at sequence: Int64) {
        let mark = AnswerPartition.mark(of: stream)
        changed[mark] = max(changed[mark], sequence)
    }

    /// Removes the answer about the stream if it is older than `sequence`.
    mutating func drop(_ stream: Stream, before sequence: Int64) {
        guard let place = places[stream], held[place].answer.sequence < sequence else { return }
        remove(place)
    }

    /// Removes answers that include an older state of the sandbox, and rejects answers that are still being read.
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

    /// Records that every event between the two positions has been processed.
    mutating func advance(from start: Int64, to end: Int64) {
        if start <= applied { applied = max(applied, end) }
    }

    /// Removes all answers. An answer that is still in preparation will not be cached.
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

/// The newest rules version of each project.
private struct KnownRules {
    private var versions: [ProjectID: Int64] = [:]
    private var highest: Int64 = 0

    mutating func note(_ project: ProjectID, _ version: Int64) {
        versions[project] = max(versions[project, default: 0], version)
        highest = max(highest, version)
    }

    /// Returns whether the answer was derived from rules that are new enough.
    func allow(_ answer: ReadyAnswer) -> Bool {
        // Most answers are at least as new as any project's rules and need no lookup.
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
