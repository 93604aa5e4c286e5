package import Core
import JSON
package import Service
package import Telemetry
import Threading

extension SharedClock {
    /// Checks whether another instance has moved the clock. Runs as often as the log is checked for
    /// events.
    package var job: Job {
        let pause: Int64 = 50
        return Job("clock", .everywhere(milliseconds: pause), longestPause: pause) {
            [self] _ throws(Fault) in
            try follow()
            return .asScheduled
        }
    }
}

/// Stops an instance that uses the machine's clock if another instance gives the database a test
/// clock. Otherwise, the instance would give wrong answers.
package final class ForeignClock: Sendable {
    private let found = Monitor<Instant?>(nil)
    private let log: Log
    private let stop: @Sendable () -> Void

    package init(log: Log, stop: @escaping @Sendable () -> Void) {
        self.log = log
        self.stop = stop
    }

    /// The test clock's time; `nil` if the database has none.
    package var instant: Instant? { found.change(wake: .none) { $0 } }

    package var obstacle: String? {
        instant == nil ? nil : "The database has a test clock; serve it with --test-clock."
    }

    package func flee(_ instant: Instant) {
        let isNew = found.change(wake: .none) { found in
            defer { found = instant }
            return found == nil
        }
        if !isNew { return }
        log.error(
            "test_clock_appeared",
            [
                "now": .string(instant.text),
                "reason": "another instance gave the database a test clock; this instance stops",
            ])
        stop()
    }
}
