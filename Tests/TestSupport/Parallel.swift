import Foundation
import Glibc
import Threading

/// Runs `body` on this many threads at once. Returns when all are done.
package func inParallel(_ count: Int, _ body: @escaping @Sendable (_ index: Int) -> Void) {
    let group = DispatchGroup()
    for index in 0..<count {
        group.enter()
        let thread = Thread {
            body(index)
            group.leave()
        }
        thread.stackSize = 1 << 20
        thread.start()
    }
    group.wait()
}

/// Runs slow work on a separate thread, because tests share few threads.
package func aside(_ body: @escaping @Sendable () throws -> Void) async throws {
    try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
        startThread("aside") { done.resume(with: Result { try body() }) }
    }
}

/// Returns whether `condition` becomes true in time.
package func eventually(within milliseconds: Int64, _ condition: () throws -> Bool) rethrows -> Bool
{
    let started = monotonicMilliseconds()
    while try !condition() {
        if monotonicMilliseconds() > started + patient(milliseconds) { return false }
        pause(milliseconds: 5)
    }
    return true
}

/// Returns the limit for a wait that takes at most `milliseconds` on an idle machine. On a busy
/// machine, multiplies it by the number of processes per processor, up to ten.
package func patient(_ milliseconds: Int64) -> Int64 {
    var load = 0.0
    guard getloadavg(&load, 1) == 1 else { return milliseconds }
    let share = load / Double(max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))))
    return Int64(Double(milliseconds) * min(max(1, share), 10))
}
