import Foundation
import Glibc

/// Starts a plain thread that runs `body` to its end.
package func startThread(_ name: String, _ body: @escaping @Sendable () -> Void) {
    let thread = Thread(block: body)
    thread.name = name
    thread.stackSize = 1 << 20
    thread.start()
}

/// Milliseconds on a clock that only moves forward: for durations, never for instants.
package func monotonicMilliseconds() -> Int64 {
    monotonicMicroseconds() / 1000
}

/// Microseconds on a clock that only moves forward: for durations, never for instants.
package func monotonicMicroseconds() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
}

/// Lets this thread rest.
package func pause(milliseconds: Int64) {
    usleep(UInt32(milliseconds) * 1000)
}
