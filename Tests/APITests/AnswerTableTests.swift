import Core
import Histories
import Testing

@testable import Service

@Suite("The table of answers")
struct AnswerTableTests {
    private let answers = (0..<200).map { readyAnswer($0) }

    @Test(
        "It finds, over random histories, what a dictionary would",
        arguments: [
            // How many hashes there are: few make many that are alike.
            3, 50, 100_000,
        ])
    func history(hashes: Int) throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        var table = AnswerTable()
        var hashOf: [Int: Int] = [:]
        for step in 0..<20_000 {
            let number = Int.random(in: 0..<200, using: &random)
            if let hash = hashOf.removeValue(forKey: number) {
                let place = try #require(table.place(of: answers[number].stream, hash))
                table.remove(place)
            } else {
                // Small hashes, and such as wrap around the table's end.
                let some = Int.random(in: 0..<hashes, using: &random)
                let hash = some % 2 == 0 ? some : -some
                hashOf[number] = hash
                table.insert(answers[number], hash)
            }
            #expect(table.count == hashOf.count, "seed \(seed)")
            if step % 50 != 0 { continue }
            for number in 0..<200 {
                let stream = answers[number].stream
                let hash = hashOf[number]
                let found = table.place(of: stream, hash ?? 0).flatMap { table[$0].answer }
                #expect(found?.stream == (hash == nil ? nil : stream), "seed \(seed)")
            }
            let kept = table.places.compactMap { table[$0].answer?.stream }
            #expect(Set(kept) == Set(hashOf.keys.map { answers[$0].stream }), "seed \(seed)")
        }
    }

    @Test("An answer that is put in place of another one is found there, and not marked as used")
    func replacing() throws {
        var table = AnswerTable()
        table.insert(answers[1], 7, confirmedAt: 1)
        let place = try #require(table.place(of: answers[1].stream, 7))
        table[place].isUsed = true
        table.replace(place, by: readyAnswer(1, at: 9), confirmedAt: 2)
        #expect(table.place(of: answers[1].stream, 7) == place)
        #expect(table[place].answer?.sequence == 9)
        #expect(table[place].confirmedAt == 2)
        #expect(!table[place].isUsed)
        #expect(table.count == 1)
    }

    @Test("An empty one finds nothing")
    func empty() {
        #expect(AnswerTable().place(of: answers[0].stream, 7) == nil)
    }
}

/// An answer about one customer of many, so many bytes long, that holds for ever.
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
    return ReadyAnswer(
        answer, as: [UInt8](repeating: 0, count: bytes), ReadyAnswer.Places(), tag: "")
}
