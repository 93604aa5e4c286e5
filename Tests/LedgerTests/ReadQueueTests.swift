import Core
import Testing
import Threading

@testable import Ledger

@Suite("The queue of reads")
struct ReadQueueTests {
    private let queue = ReadQueue(limit: 1000)

    private func add(_ count: Int = 1) throws {
        for number in 0..<count {
            let stream = Stream(
                project: try ProjectID("game"), environment: .production,
                customer: try CustomerID("u\(number)"))
            #expect(queue.add(PendingRead(stream: stream, deadline: 0) { _ in }))
        }
    }

    /// A reader on a thread of its own that takes one batch, and how many reads it got: -1 for the end.
    private func startReader() -> Monitor<Int?> {
        let taken = Monitor<Int?>(nil)
        startThread("reader") { [queue] in
            let count = queue.take()?.reads.count ?? -1
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

    @Test("What comes while a reader is at work waits for it, up to a crowd")
    func oneReader() throws {
        try add()
        let first = try #require(queue.take())
        #expect(first.reads.count == 1)
        try add(ReadQueue.crowd - 1)
        let second = startReader()
        #expect(stillWaits(second))
        try add()
        #expect(taken(second) == ReadQueue.crowd)
        queue.finish(first)
    }

    @Test("A reader that takes nothing while reads wait is not waited for")
    func stuckReader() throws {
        try add()
        _ = try #require(queue.take())
        try add()
        let second = startReader()
        #expect(queue.passBy())
        #expect(stillWaits(second))
        #expect(queue.passBy())
        #expect(taken(second) == 1)
    }

    @Test("A reader that was given up counts again when it is back; the other one is not blamed")
    func recoveredReader() throws {
        try add()
        let slow = try #require(queue.take())
        try add()
        _ = queue.passBy()
        _ = queue.passBy()
        let quick = try #require(queue.take())
        queue.finish(slow)
        try add()
        let again = startReader()
        #expect(stillWaits(again))
        queue.finish(quick)
        #expect(queue.take()?.reads.count == 1)
        queue.close()
        #expect(taken(again) == -1)
    }

    @Test("A closed queue takes no more and gives what waits to whoever asks")
    func closed() throws {
        try add()
        _ = try #require(queue.take())
        try add(2)
        queue.close()
        let stream = Stream.ofProject(try ProjectID("game"))
        #expect(!queue.add(PendingRead(stream: stream, deadline: 0) { _ in }))
        #expect(queue.take()?.reads.count == 2)
        #expect(queue.take() == nil)
    }

    @Test("Nothing happens where nothing is read")
    func idle() {
        #expect(!queue.passBy())
    }
}
