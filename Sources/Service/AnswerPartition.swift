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
    /// What a reader gets.
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
    private var table = AnswerTable()
    private var hand = 0
    /// The projects whose rules are known, by the order in which they came up, and the rules.
    private var projects: [ProjectID: Int32] = [:]
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
        guard let place = table.place(of: stream, stream.hashValue),
            let answer = table[place].answer, answer.holds(at: now),
            rules[Int(table[place].project)] <= answer.rules
        else {
            tally.misses += 1
            return nil
        }
        // Written only when it changes: else each read would have memory written anew.
        if !table[place].isUsed { table[place].isUsed = true }
        tally.hits += 1
        return Found(
            answer: answer, sequence: max(answer.sequence, applied),
            confirmedAt: table[place].confirmedAt)
    }

    func holds(_ stream: Stream) -> Bool { table.place(of: stream, stream.hashValue) != nil }

    /// Whether what was read of the stream up to the sequence still is all.
    func isCurrent(_ stream: Stream, at sequence: Int64) -> Bool {
        isCurrent(stream.hashValue, at: sequence)
    }

    private func isCurrent(_ hash: Int, at sequence: Int64) -> Bool {
        changed[AnswerPartition.mark(of: hash)] <= sequence
    }

    // MARK: Keeping

    /// Keeps the answer unless it is outdated, or would need more room than there is for many.
    mutating func keep(_ answer: ReadyAnswer, confirmedAt: Int64) {
        let stream = answer.stream
        let hash = stream.hashValue
        let known = table.place(of: stream, hash)
        let project = known.map { table[$0].project } ?? index(of: stream.project)
        let weight = AnswerPartition.weight(of: answer)
        guard isCurrent(hash, at: answer.sequence), rules[Int(project)] <= answer.rules,
            weight <= limit / 4
        else { return }
        if let known, let other = table[known].answer {
            if answer.isOlder(than: other) { return }
            let growth = weight - AnswerPartition.weight(of: other)
            if Int(tally.bytes) + growth <= limit {
                table.replace(known, by: answer, confirmedAt: confirmedAt)
                tally.bytes += Int64(growth)
                return
            }
            remove(known)
        }
        while Int(tally.bytes) + weight > limit { evict() }
        table.insert(answer, hash, project: project, confirmedAt: confirmedAt)
        tally.bytes += Int64(weight)
        tally.entries += 1
    }

    private static func weight(of answer: ReadyAnswer) -> Int {
        answer.weight + AnswerTable.weight
    }

    /// Takes the mark off the next answer, or removes it when it has none.
    private mutating func evict() {
        if hand >= table.places.upperBound { hand = 0 }
        if !table[hand].isUsed, table[hand].answer != nil {
            // Another one may move to where it was, and is looked at next.
            remove(hand)
            tally.evictions += 1
        } else {
            table[hand].isUsed = false
            hand += 1
        }
    }

    private mutating func remove(_ place: Int) {
        if let answer = table[place].answer {
            tally.bytes -= Int64(AnswerPartition.weight(of: answer))
            tally.entries -= 1
        }
        table.remove(place)
    }

    private mutating func index(of project: ProjectID) -> Int32 {
        if let index = projects[project] { return index }
        let index = Int32(rules.count)
        projects[project] = index
        rules.append(0)
        return index
    }

    // MARK: Following the log

    /// Notes that the stream changed, so that nothing older is kept any more.
    mutating func note(_ stream: Stream, at sequence: Int64) {
        let mark = AnswerPartition.mark(of: stream.hashValue)
        changed[mark] = max(changed[mark], sequence)
    }

    /// Lets go of what was read of the stream before that.
    mutating func drop(_ stream: Stream, before sequence: Int64) {
        guard let place = table.place(of: stream, stream.hashValue),
            let answer = table[place].answer, answer.sequence < sequence
        else { return }
        remove(place)
    }

    /// Lets go of what includes the sandbox as it was before that.
    mutating func drop(_ stream: Stream, beforeSandbox sequence: Int64) {
        guard let place = table.place(of: stream, stream.hashValue),
            let known = table[place].answer?.sandboxSequence, known < sequence
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
        let index = Int(index(of: project))
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

extension ReadyAnswer {
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
