import Foundation
import Glibc

/// How soon a thread gets a processor when processors are scarce.
package enum Urgency: Int32 {
    /// Work for callers to whom milliseconds matter, and work for which every caller waits.
    case usual = 0
    /// Long-running work for one sender. Even a constant flow of such work must not delay short
    /// answers.
    case patient = 10
    /// Work for unauthenticated callers.
    case last = 15
}

/// Starts a thread that runs `body` to its end.
package func startThread(
    _ name: String, _ urgency: Urgency = .usual, _ body: @escaping @Sendable () -> Void
) {
    let thread = Thread {
        // On Linux, this affects only the calling thread.
        if urgency != .usual {
            setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, urgency.rawValue)
        }
        body()
    }
    thread.name = name
    thread.stackSize = 1 << 20
    thread.start()
}

/// Processes all items concurrently, each on its own thread, and waits for all of them.
package func sideBySide<Item: Sendable, Result: Sendable>(
    _ items: [Item], _ work: @escaping @Sendable (Item) -> Result
) -> [Result] {
    let done = Monitor([Int: Result]())
    for (place, item) in items.enumerated().dropFirst() {
        startThread("side by side") {
            let result = work(item)
            done.change { $0[place] = result }
        }
    }
    // This thread processes the first item, because it would otherwise only wait.
    if let first = items.first {
        let result = work(first)
        done.change { $0[0] = result }
    }
    return done.wait { done in
        done.count == items.count ? items.indices.compactMap { done[$0] } : nil
    }
}

/// Milliseconds on a monotonic clock, for measuring durations but not for instants.
package func monotonicMilliseconds() -> Int64 {
    monotonicMicroseconds() / 1000
}

/// Microseconds on a monotonic clock, for measuring durations but not for instants.
package func monotonicMicroseconds() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
}

/// Puts this thread to sleep.
package func pause(milliseconds: Int64) {
    usleep(UInt32(milliseconds) * 1000)
}
