package import Core
package import Threading

/// Background work that no call triggers.
package struct Job: Sendable {
    /// When a job runs next.
    package enum Next: Sendable {
        /// There is more to do immediately.
        case atOnce
        /// At the scheduled time.
        case asScheduled
        /// At that instant of Deed's clock, if it comes before the scheduled time.
        case at(Instant)
        /// At the scheduled time. Until then, these jobs run as well. Jobs missing from the next
        /// run's list end.
        case keeping([Job])
    }

    let name: String
    let schedule: Schedule
    /// How many threads run it.
    var threads = 1
    var urgency = Urgency.usual
    /// The longest rest after repeated failures.
    var longestPause: Int64 = 60_000
    let work: @Sendable (Run) throws(Fault) -> Next

    package init(
        _ name: String, _ schedule: Schedule, threads: Int = 1, urgency: Urgency = .usual,
        longestPause: Int64 = 60_000,
        work: @escaping @Sendable (Run) throws(Fault) -> Next
    ) {
        self.name = name
        self.schedule = schedule
        self.threads = threads
        self.urgency = urgency
        self.longestPause = longestPause
        self.work = work
    }

    /// How long to rest after this many consecutive failures. It doubles each time.
    func pause(afterFailures count: Int) -> Int64 {
        min(longestPause, min(schedule.pause, 1000) << Int64(min(count - 1, 16)))
    }
}

package struct Run: Sendable {
    /// When it began, by Deed's clock.
    package let startedAt: Instant
    /// The lease under which one instance runs it for all; `nil` if each instance runs it.
    package let lease: Lease?
    let isWanted: @Sendable () -> Bool

    /// Whether to continue. A long run checks this between steps. It becomes false when the service
    /// stops or another instance takes over.
    package var goesOn: Bool { isWanted() }
}
