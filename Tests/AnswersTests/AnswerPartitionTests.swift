import Core
import Histories
import Testing

@testable import Answers

@Suite("The answers of one shard")
struct AnswerPartitionTests {
    private static let now = Instant(milliseconds: 1)

    @Test("An answer that grows past the limit stays, and another one makes room")
    func growing() {
        var partition = AnswerPartition(limit: 20_000)
        for number in 0..<20 {
            partition.keep(readyAnswer(number, bytes: 200), since: 0, confirmedAt: 0)
        }
        let before = partition.tally
        for number in 0..<20 {
            let answer = readyAnswer(number, at: 1, bytes: 1500)
            partition.keep(answer, since: 0, confirmedAt: 0)
            #expect(partition.find(answer.stream, at: Self.now)?.answer.sequence == 1)
            #expect(partition.tally.bytes <= 20_000)
        }
        #expect(before.evictions == 0)
        #expect(partition.tally.evictions > 0)
    }

    @Test("Used answers outlive unused ones")
    func secondChance() {
        var partition = AnswerPartition(limit: 100_000)
        let loved = (0..<20).map { readyAnswer($0, bytes: 500) }
        for answer in loved { partition.keep(answer, since: 0, confirmedAt: 0) }
        for number in 20..<2000 {
            for answer in loved { _ = partition.find(answer.stream, at: Self.now) }
            partition.keep(readyAnswer(number, bytes: 500), since: 0, confirmedAt: 0)
        }
        for answer in loved { #expect(partition.holds(answer.stream)) }
        #expect(partition.tally.evictions > 1500)
    }

    @Test("Over random histories it counts its answers and bytes, and keeps within its limit")
    func history() {
        let seed = printedSeed(of: "partitions of answers")
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
                partition.keep(answer, since: 0, confirmedAt: 0)
                let found = partition.find(answer.stream, at: Self.now)
                #expect(found?.answer.sequence == Int64(step), "seed \(seed)")
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

/// Returns an answer about one customer of many, of the given length, which is valid forever.
func readyAnswer(
    _ number: Int, at sequence: Int64 = 0, bytes: Int = 1
) -> ReadyAnswer {
    let stream = Stream(
        project: ProjectID(prefix: "p", random: ""), environment: .production,
        customer: CustomerID(prefix: "c", random: String(number)))
    let snapshot = CustomerSnapshot(
        customer: CustomerState(), project: ProjectState(),
        position: Position(shard: stream.shard, sequence: sequence))
    let answer = EntitlementsAnswer(
        CustomerView(snapshot, of: stream), at: Instant(milliseconds: 0))
    var body = AnswerBody()
    body.bytes = [UInt8](repeating: 0, count: bytes)
    return ReadyAnswer(answer, as: body, tag: "")
}
