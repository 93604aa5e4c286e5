import Foundation
import Glibc
import Threading

/// Runs `body` on so many threads of their own at the same time, and returns when all are done.
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

/// Runs what takes long on a thread of its own: tests share few.
package func aside(_ body: @escaping @Sendable () throws -> Void) async throws {
    try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
        startThread("aside") { done.resume(with: Result { try body() }) }
    }
}

/// Whether `condition` comes true in time.
package func eventually(within milliseconds: Int64, _ condition: () throws -> Bool) rethrows -> Bool
{
    let deadline = monotonicMilliseconds() + milliseconds
    while try !condition() {
        if monotonicMilliseconds() > deadline { return false }
        pause(milliseconds: 5)
    }
    return true
}
