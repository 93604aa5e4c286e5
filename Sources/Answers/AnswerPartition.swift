import Core
import Synchronization

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
/// What needs room gives every answer a second chance: a hand goes round, takes the mark off
/// those that were used since it came by, and removes those without. That comes close to removing
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
        guard let place = places[stream], held[place].answer.holds(at: now),
            rules.allow(held[place].answer)
        else {
            tally.misses += 1
            return nil
        }
        // Written only when it changes: otherwise each read would write memory.
        if !held[place].isUsed { held[place].isUsed = true }
        tally.hits += 1
        return held[place]
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

    /// Everything in those positions was taken in.
    mutating func advance(over positions: ClosedRange<Int64>) {
        if positions.lowerBound <= applied + 1 { applied = max(applied, positions.upperBound) }
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
