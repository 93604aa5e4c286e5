import Core
import Glibc

/// The machine's clock.
@Sendable func machineClock() -> Instant {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Instant(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
}

/// The signals that end the program. They are held back from every thread, and one waits for them.
enum StopSignal {
    static func hold() {
        var wanted = signals
        pthread_sigmask(Int32(SIG_BLOCK), &wanted, nil)
    }

    static func wait() {
        var wanted = signals
        var number: Int32 = 0
        sigwait(&wanted, &number)
    }

    private static var signals: sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for number in [SIGTERM, SIGINT, SIGHUP] { sigaddset(&set, number) }
        return set
    }
}
