import Synchronization
import Testing

@testable import Threading

@Suite("A value that threads change and wait for")
struct MonitorTests {
    /// Runs `body` on a separate thread and returns its result.
    private func aside<Result: Sendable>(
        _ body: @escaping @Sendable () -> Result
    ) async -> Result {
        await withCheckedContinuation { waiting in
            startThread("monitor-test") { waiting.resume(returning: body()) }
        }
    }

    @Test("Two threads that change it at once lose no change")
    func changes() async {
        let monitor = Monitor(0)
        async let first: Void = aside {
            for _ in 0..<10_000 { monitor.change(wake: .all) { $0 += 1 } }
        }
        async let second: Void = aside {
            for _ in 0..<10_000 { monitor.changeAndWake { value in ((value += 1), .one) } }
        }
        _ = await (first, second)
        #expect(monitor.change { $0 } == 20_000)
    }

    @Test("A waiting thread continues as soon as its condition holds")
    func waits() async {
        let monitor = Monitor(0)
        async let heard = aside { monitor.wait { $0 == 3 ? $0 : nil } }
        for _ in 0..<3 { monitor.change { $0 += 1 } }
        #expect(await heard == 3)
    }

    @Test("A waiting thread gives up when its time is over, and not before")
    func givesUp() async {
        let monitor = Monitor(0)
        let waited = await aside {
            let start = monotonicMilliseconds()
            let result = monitor.wait(milliseconds: 1200) { $0 > 0 ? $0 : nil }
            return (result, monotonicMilliseconds() - start)
        }
        #expect(waited.0 == nil)
        #expect(waited.1 >= 1199)
    }

    @Test("An error from a body reaches its caller, and the value stays usable")
    func throwing() {
        struct Refused: Error {}
        let monitor = Monitor(1)
        #expect(throws: Refused.self) { try monitor.change { _ in throw Refused() } }
        #expect(monitor.change { $0 } == 1)
    }

    @Test("Waking one wakes one of the waiting threads, each in its turn")
    func one() async {
        let monitor = Monitor(0)
        @Sendable func take() -> Bool {
            monitor.wait { value in
                if value == 0 { return nil }
                value -= 1
                return true
            }
        }
        async let first = aside { take() }
        async let second = aside { take() }
        for _ in 0..<2 { monitor.change(wake: .one) { $0 += 1 } }
        let both = await (first, second)
        #expect(both.0 && both.1)
        #expect(monitor.change { $0 } == 0)
    }
}
