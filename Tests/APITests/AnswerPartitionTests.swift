import Core
import Histories
import Testing

@testable import Service

@Suite("The answers of one shard")
struct AnswerPartitionTests {
    private static let now = Instant(milliseconds: 1)

    @Test("An answer that grows past the limit stays, and another one makes room")
    func growing() {
        var partition = AnswerPartition(limit: 10_000)
        for number in 0..<20 { partition.keep(readyAnswer(number, bytes: 200), confirmedAt: 0) }
        let before = partition.tally
        for number in 0..<20 {
            let answer = readyAnswer(number, at: 1, bytes: 1500)
            partition.keep(answer, confirmedAt: 0)
            #expect(partition.find(answer.stream, at: Self.now)?.sequence == 1)
            #expect(partition.tally.bytes <= 10_000)
        }
        #expect(before.evictions == 0)
        #expect(partition.tally.evictions > 0)
    }

    @Test("Those that are used outlive those that are not")
    func secondChance() {
        var partition = AnswerPartition(limit: 100_000)
        let loved = (0..<20).map { readyAnswer($0, bytes: 500) }
        for answer in loved { partition.keep(answer, confirmedAt: 0) }
        for number in 20..<2000 {
            for answer in loved { _ = partition.find(answer.stream, at: Self.now) }
            partition.keep(readyAnswer(number, bytes: 500), confirmedAt: 0)
        }
        for answer in loved { #expect(partition.holds(answer.stream)) }
        #expect(partition.tally.evictions > 1500)
    }

    @Test("Over random histories it counts its answers and their bytes, and keeps within its limit")
    func history() {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        var partition = AnswerPartition(limit: 30_000)
        for step in 0..<20_000 {
            let number = Int.random(in: 0..<150, using: &random)
            let bytes = Int.random(in: 0..<1000, using: &random)
            let answer = readyAnswer(number, at: Int64(step), bytes: bytes)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: partition.drop(answer.stream, before: Int64(step))
            case 1: _ = partition.find(answer.stream, at: Self.now)
            default:
                partition.keep(answer, confirmedAt: 0)
                let found = partition.find(answer.stream, at: Self.now)
                #expect(found?.sequence == Int64(step), "seed \(seed)")
            }
            #expect((0...30_000).contains(partition.tally.bytes), "seed \(seed)")
        }
        let held = (0..<150).filter { partition.holds(readyAnswer($0).stream) }
        #expect(Int(partition.tally.entries) == held.count, "seed \(seed)")
        for number in held { partition.drop(readyAnswer(number).stream, before: .max) }
        #expect(partition.tally.entries == 0, "seed \(seed)")
        #expect(partition.tally.bytes == 0, "seed \(seed)")
    }
}
