import Histories
import Testing

@testable import Service

@Suite("The table of places")
struct PlaceTableTests {
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
        var table = PlaceTable()
        var hashOf: [Int: Int] = [:]
        for step in 0..<20_000 {
            let place = Int.random(in: 0..<200, using: &random)
            if let hash = hashOf.removeValue(forKey: place) {
                table.remove(place, hash)
            } else {
                // Small hashes, and such as wrap around the table's end.
                let number = Int.random(in: 0..<hashes, using: &random)
                let hash = number % 2 == 0 ? number : -number
                hashOf[place] = hash
                table.insert(place, hash)
            }
            if step % 50 != 0 { continue }
            for place in 0..<200 {
                let found = hashOf[place].map { hash in table.find(hash) { $0 == place } } ?? nil
                #expect(found == (hashOf[place] == nil ? nil : place), "seed \(seed)")
            }
            for hash in -3...3 {
                var seen: Set<Int> = []
                _ = table.find(hash) { seen.insert($0).inserted && false }
                let expected = hashOf.filter { $0.value == hash }.keys
                #expect(seen == Set(expected), "seed \(seed)")
            }
        }
    }

    @Test("An empty one finds nothing")
    func empty() {
        #expect(PlaceTable().find(7) { _ in true } == nil)
    }
}
