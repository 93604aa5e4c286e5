import Core
import Synchronization
import Testing
import Threading

@testable import Ledger

@Suite("The queue of reads")
struct ReadQueueTests {
    private final class Clock: Sendable {
        let time = Atomic<Int64>(1000)
    }
    private let clock = Clock()
    private let queue: ReadQueue

    init() {
        queue = ReadQueue(limit: 1000) { [clock] in clock.time.load(ordering: .relaxed) }
    }

    /// Adds reads. Returns the number of reads that have ended.
    @discardableResult
    private func add(_ count: Int = 1, deadline: Int64 = .max) throws -> Monitor<Int> {
        let ended = Monitor(0)
        for number in 0..<count {
            let stream = Stream(
                project: try ProjectID("game"), environment: .production,
                customer: try CustomerID("u\(number)"))
            queue.add(
                PendingRead(stream, deadline: deadline) { answer in
                    #expect((try? answer.get()) == nil)
                    ended.change { $0 += 1 }
                })
        }
        return ended
    }

    private func pass(_ milliseconds: Int64) {
        clock.time.add(milliseconds, ordering: .relaxed)
    }

    /// Starts a thread that reads one batch. Returns the number of its reads, or -1 at the end.
    private func startReader(_ number: Int) -> Monitor<Int?> {
        let taken = Monitor<Int?>(nil)
        startThread("reader") { [queue] in
            let count = queue.take(number)?.count ?? -1
            taken.change { $0 = count }
        }
        return taken
    }

    private func stillWaits(_ reader: Monitor<Int?>) -> Bool {
        reader.wait(milliseconds: 60) { $0 } == nil
    }

    private func taken(_ reader: Monitor<Int?>) -> Int? {
        reader.wait(milliseconds: 5000) { $0 }
    }

    @Test("Reads during a reader's work wait for it, up to a crowd")
    func oneReader() throws {
        try add()
        #expect(queue.take(0)?.count == 1)
        try add(ReadQueue.crowd - 1)
        let second = startReader(1)
        #expect(stillWaits(second))
        try add()
        #expect(taken(second) == ReadQueue.crowd)
    }

    @Test("A reader that takes all it may leaves the rest to another one")
    func wholeBatch() throws {
        try add()
        #expect(queue.take(0)?.count == 1)
        try add(ReadQueue.batchLimit + ReadQueue.crowd)
        #expect(queue.take(0)?.count == ReadQueue.batchLimit)
        #expect(taken(startReader(1)) == ReadQueue.crowd)
    }

    @Test("A slow reader is not waited for, and counts again when it is back")
    func slowReader() throws {
        try add()
        #expect(queue.take(0)?.count == 1)
        try add()
        let second = startReader(1)
        #expect(stillWaits(second))
        pass(4)
        #expect(queue.passBy())
        #expect(stillWaits(second))
        pass(1)
        #expect(queue.passBy())
        #expect(taken(second) == 1)
        // Both readers are busy, so the slow one no longer delays the others.
        try add()
        let third = startReader(2)
        #expect(stillWaits(third))
        pass(5)
        #expect(queue.passBy())
        #expect(taken(third) == 1)
        pass(5)
        try add()
        #expect(queue.take(0)?.count == 1)
        try add()
        let again = startReader(1)
        #expect(stillWaits(again))
        queue.close()
        #expect(taken(again) == 1)
    }

    @Test("A deadline ends a waiting read and one in a reader's hands, each once")
    func deadlines() throws {
        let inHand = try add(2, deadline: 1400)
        let reads = try #require(queue.take(0))
        let waiting = try add(3, deadline: 1500)
        pass(399)
        _ = queue.passBy()
        #expect(inHand.change { $0 } == 0)
        pass(1)
        _ = queue.passBy()
        #expect(inHand.change { $0 } == 2 && waiting.change { $0 } == 0)
        #expect(reads.allSatisfy { !$0.isWaiting } && queue.depth == 3)
        pass(100)
        _ = queue.passBy()
        #expect(waiting.change { $0 } == 3 && queue.depth == 0)
        // The reader returns too late, so its answers do not count.
        for read in reads { read.answer(.failure(.logShrunk)) }
        #expect(inHand.change { $0 } == 2)
    }

    @Test("A full or closed queue answers at once; waiting reads go to the next reader")
    func bounds() throws {
        let first = try add(1001)
        #expect(first.change { $0 } == 1)
        queue.close()
        #expect(try add().change { $0 } == 1)
        var count = 0
        while let reads = queue.take(0) { count += reads.count }
        #expect(count == 1000)
    }

    @Test("The queue is idle if nothing was read for a while")
    func idle() throws {
        #expect(!queue.passBy())
        try add()
        #expect(queue.take(0)?.count == 1)
        pass(99)
        #expect(queue.passBy())
        pass(1)
        #expect(!queue.passBy())
    }
}
