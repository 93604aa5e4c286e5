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
/// Whoever needs room gives every answer a second chance: a hand goes round, takes the mark off
/// those that were used since it came by, and removes those without. That comes close to removing
/// what was used least recently, and a use costs no more than setting the mark.
struct AnswerPartition {
    /// A ready answer, and as long as what it holds.
    struct Entry {
        var answer: ReadyAnswer
        /// The instant that it was derived for, and the one at which it ends.
        var from: Instant
        var until: Instant
        /// The version of the project's rules that it was derived by.
        var rules: Int64
        /// The sequence in this shard up to which it was read.
        var sequence: Int64
        /// The sequence up to which the sandbox was read that it includes, in the sandbox's shard.
        var sandboxSequence: Int64?
        /// When the database was asked, on the monotonic clock.
        var confirmedAt: Int64
        // What a reader does not look at comes last.
        var stream: Stream

        /// Bytes of memory, roughly: what tables that grow by doubling have room for counts twice.
        var weight: Int {
            let name = stream.customer.text.utf8.count
            return answer.weight + 2 * MemoryLayout<Slot>.stride + 4 * MemoryLayout<UInt64>.stride
                + (name > 15 ? name + 32 : 0)
        }
    }
    struct Slot {
        var isFree = false
        var isUsed = false
        var project: Int
        var entry: Entry
    }
    /// What a reader needs of an entry.
    struct Found {
        let answer: ReadyAnswer
        let sequence: Int64
        let confirmedAt: Int64
    }
    private static let marks = 256

    private(set) var tally = AnswerTally()
    /// Up to where every event of the shard was taken in.
    private(set) var applied: Int64 = 0
    private(set) var epoch = 0
    /// In bytes.
    private let limit: Int
    private var slots: [Slot] = []
    private var places = PlaceTable()
    private var free: [Int] = []
    private var hand = 0
    /// The projects whose rules are known, by the order in which they came up, and the rules.
    private var projects: [ProjectID: Int] = [:]
    private var rules: [Int64] = []
    /// The newest rules of which every partition is known to have been told.
    private var spread: [ProjectID: Int64] = [:]
    /// The last sequence at which any of the streams changed that share a mark. What was read of
    /// one of them before that is not kept any more.
    private var changed = [Int64](repeating: 0, count: AnswerPartition.marks)

    init(limit: Int) {
        self.limit = limit
    }

    // MARK: Reading

    mutating func find(_ stream: Stream, at now: Instant) -> Found? {
        guard let place = place(of: stream, stream.hashValue),
            slots[place].entry.from <= now, now < slots[place].entry.until,
            rules[slots[place].project] <= slots[place].entry.rules
        else {
            tally.misses += 1
            return nil
        }
        slots[place].isUsed = true
        tally.hits += 1
        return Found(
            answer: slots[place].entry.answer,
            sequence: max(slots[place].entry.sequence, applied),
            confirmedAt: slots[place].entry.confirmedAt)
    }

    func holds(_ stream: Stream) -> Bool { place(of: stream, stream.hashValue) != nil }

    private func place(of stream: Stream, _ hash: Int) -> Int? {
        places.find(hash) { slots[$0].entry.stream == stream }
    }

    /// Whether what was read of the stream up to the sequence still is all.
    func isCurrent(_ stream: Stream, at sequence: Int64) -> Bool {
        isCurrent(stream.hashValue, at: sequence)
    }

    private func isCurrent(_ hash: Int, at sequence: Int64) -> Bool {
        changed[AnswerPartition.mark(of: hash)] <= sequence
    }

    // MARK: Keeping

    /// Keeps the entry unless it is outdated, or would need more room than there is for many.
    mutating func keep(_ entry: Entry) {
        let hash = entry.stream.hashValue
        let known = place(of: entry.stream, hash)
        let project = known.map { slots[$0].project } ?? index(of: entry.stream.project)
        let weight = entry.weight
        guard isCurrent(hash, at: entry.sequence), rules[project] <= entry.rules,
            weight <= limit / 4
        else { return }
        if let known {
            if entry.isOlder(than: slots[known].entry) { return }
            tally.bytes += Int64(weight - slots[known].entry.weight)
            slots[known] = Slot(project: project, entry: entry)
            while Int(tally.bytes) > limit { evict() }
            return
        }
        while Int(tally.bytes) + weight > limit { evict() }
        places.insert(add(Slot(project: project, entry: entry)), hash)
        tally.bytes += Int64(weight)
        tally.entries += 1
    }

    private mutating func add(_ slot: Slot) -> Int {
        guard let place = free.popLast() else {
            slots.append(slot)
            return slots.count - 1
        }
        slots[place] = slot
        return place
    }

    /// Takes the mark off the next entry, or removes it when it has none.
    private mutating func evict() {
        hand = hand + 1 < slots.count ? hand + 1 : 0
        if slots[hand].isUsed {
            slots[hand].isUsed = false
        } else if !slots[hand].isFree {
            remove(hand)
            tally.evictions += 1
        }
    }

    private mutating func remove(_ place: Int) {
        places.remove(place, slots[place].entry.stream.hashValue)
        tally.bytes -= Int64(slots[place].entry.weight)
        tally.entries -= 1
        slots[place].entry.answer = .none
        slots[place].isUsed = false
        slots[place].isFree = true
        free.append(place)
    }

    private mutating func index(of project: ProjectID) -> Int {
        if let index = projects[project] { return index }
        projects[project] = rules.count
        rules.append(0)
        return rules.count - 1
    }

    // MARK: Following the log

    /// Notes that the stream changed, so that nothing older is kept any more.
    mutating func note(_ stream: Stream, at sequence: Int64) {
        let mark = AnswerPartition.mark(of: stream.hashValue)
        changed[mark] = max(changed[mark], sequence)
    }

    /// Lets go of what was read of the stream before that.
    mutating func drop(_ stream: Stream, before sequence: Int64) {
        guard let place = place(of: stream, stream.hashValue),
            slots[place].entry.sequence < sequence
        else { return }
        remove(place)
    }

    /// Lets go of what includes the sandbox as it was before that.
    mutating func drop(_ stream: Stream, beforeSandbox sequence: Int64) {
        guard let place = place(of: stream, stream.hashValue),
            let known = slots[place].entry.sandboxSequence, known < sequence
        else { return }
        remove(place)
    }

    /// Whether every partition was told of these rules, or of newer ones.
    func isSpread(_ version: Int64, of project: ProjectID) -> Bool {
        version <= spread[project] ?? -1
    }

    mutating func noteSpread(_ version: Int64, of project: ProjectID) {
        spread[project] = max(spread[project] ?? 0, version)
    }

    mutating func outdate(_ project: ProjectID, before version: Int64) {
        let index = index(of: project)
        rules[index] = max(rules[index], version)
    }

    /// Everything in those positions was taken in.
    mutating func advance(over positions: ClosedRange<Int64>) {
        if positions.lowerBound <= applied + 1 { applied = max(applied, positions.upperBound) }
    }

    /// What happened up to there is not known, and nothing is held that it could concern.
    mutating func skip(to sequence: Int64) { applied = max(applied, sequence) }

    /// Lets go of everything; what was read in an earlier epoch is not kept any more.
    mutating func clear(for epoch: Int, applied: Int64) {
        var fresh = AnswerPartition(limit: limit)
        fresh.epoch = epoch
        fresh.applied = applied
        fresh.tally.hits = tally.hits
        fresh.tally.misses = tally.misses
        fresh.tally.evictions = tally.evictions + tally.entries
        self = fresh
    }

    private static func mark(of hash: Int) -> Int { abs(hash % AnswerPartition.marks) }
}

extension AnswerPartition.Entry {
    /// Whether the other one of the same stream knows more. Of two that know the same, each is right
    /// in its own time, and the one that was asked for last is wanted.
    fileprivate func isOlder(than other: Self) -> Bool {
        if sequence != other.sequence { return sequence < other.sequence }
        return rules < other.rules
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

extension AnswerPartition.Entry {
    init(_ answer: EntitlementsAnswer, _ ready: ReadyAnswer, confirmedAt: Int64) {
        self.init(
            answer: ready, from: answer.entitlements.at,
            until: answer.entitlements.nextChange ?? .distantFuture, rules: answer.rules,
            sequence: answer.position.sequence, sandboxSequence: answer.sandbox?.sequence,
            confirmedAt: confirmedAt, stream: answer.stream)
    }
}
