import Glibc
import Synchronization

/// Waits for SIGTERM or SIGINT; a second one ends the process at once.
enum StopSignal {
    /// Read and write end of the pipe through which the handler wakes the waiter.
    private static let pipeEnds: (read: Int32, write: Int32) = {
        var ends: [Int32] = [0, 0]
        precondition(pipe(&ends) == 0, "no pipe can be made: no descriptor is left")
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }()
    fileprivate static let isStopping = Atomic(false)

    static func install() {
        _ = pipeEnds
        for number in [SIGTERM, SIGINT, SIGHUP] { signal(number, stopRequested) }
    }

    static func wait() {
        var byte: UInt8 = 0
        while read(pipeEnds.read, &byte, 1) < 0, errno == EINTR {}
    }

    fileprivate static func raise() {
        var byte: UInt8 = 1
        _ = write(pipeEnds.write, &byte, 1)
    }
}

/// Only calls that are safe while any code is interrupted.
private func stopRequested(_: Int32) {
    if StopSignal.isStopping.exchange(true, ordering: .relaxed) { _exit(130) }
    StopSignal.raise()
}
