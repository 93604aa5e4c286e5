import Glibc
import Synchronization

/// The wait for SIGTERM, SIGINT and SIGHUP, which may be counted instead. A second signal more than a second later ends
/// the process immediately. An earlier second signal counts as the same request, sent both to the process group and to
/// the process.
package enum StopSignal {
    /// The pipe through which the handler wakes the waiting thread.
    private static let pipeEnds: (read: Int32, write: Int32) = {
        var ends: [Int32] = [0, 0]
        precondition(pipe(&ends) == 0, "a pipe cannot be created: no file descriptor is free")
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }()
    /// When the first signal arrived, in seconds on the monotonic clock; 0 before that.
    fileprivate static let stoppingSince = Atomic(0)

    /// The number of SIGHUP signals, if they do not stop the process.
    fileprivate static let hangupCount = Atomic(0)
    package static var hangups: Int { hangupCount.load(ordering: .relaxed) }

    /// Installs the handlers. If `countsHangups` is true, SIGHUP does not stop the process.
    package static func install(countsHangups: Bool = false) {
        _ = pipeEnds
        var wanted = sigset_t()
        sigemptyset(&wanted)
        for number in [SIGTERM, SIGINT, SIGHUP] {
            if number == SIGHUP, countsHangups {
                signal(number, hangupReceived)
            } else {
                signal(number, stopRequested)
            }
            sigaddset(&wanted, number)
        }
        // The parent process may have blocked these signals, and a process inherits what its parent
        // has blocked.
        pthread_sigmask(Int32(SIG_UNBLOCK), &wanted, nil)
    }

    package static func wait() {
        var byte: UInt8 = 0
        while read(pipeEnds.read, &byte, 1) < 0, errno == EINTR {}
    }

    /// Waits for up to the given time. Returns whether to stop. Once true, the result stays true.
    package static func wait(milliseconds: Int) -> Bool {
        var ends = [pollfd(fd: pipeEnds.read, events: Int16(POLLIN), revents: 0)]
        return poll(&ends, 1, Int32(milliseconds)) > 0
    }

    /// Ends the wait, as a signal would.
    package static func raise() {
        var byte: UInt8 = 1
        _ = write(pipeEnds.write, &byte, 1)
    }
}

private func hangupReceived(_: Int32) {
    StopSignal.hangupCount.add(1, ordering: .relaxed)
}

/// Handles a signal. Makes only calls that are safe in a signal handler.
private func stopRequested(_: Int32) {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    let (isFirst, since) = StopSignal.stoppingSince.compareExchange(
        expected: 0, desired: time.tv_sec, ordering: .relaxed)
    if isFirst { StopSignal.raise() } else if time.tv_sec > since + 1 { _exit(130) }
}
