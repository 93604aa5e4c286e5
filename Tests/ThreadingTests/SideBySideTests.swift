import Synchronization
import Testing

@testable import Threading

@Suite("Work done side by side")
struct SideBySideTests {
    @Test("All items are worked on at the same time, and results keep their order")
    func together() {
        let arrived = Monitor(0)
        let results = sideBySide([3, 1, 2]) { item in
            arrived.change { $0 += 1 }
            // If the items ran one after another, they would wait forever.
            let isTogether = arrived.wait(milliseconds: 10_000) { $0 == 3 ? true : nil }
            return isTogether == true ? item * 10 : 0
        }
        #expect(results == [30, 10, 20])
    }

    @Test("The calling thread does a single item itself, and no items need no thread")
    func few() {
        let names = sideBySide(["a"]) { $0 + "!" }
        #expect(names == ["a!"])
        #expect(sideBySide([String]()) { $0 }.isEmpty)
    }
}
