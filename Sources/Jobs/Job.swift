package import Core
package import Threading

/// Work that runs in the background.
package struct Job: Sendable {
    /// When a job runs next.
    package enum Next: Sendable {
        /// Immediately, because there is more to do.
        case atOnce
        /// At the scheduled time.
        case asScheduled
        /// At that instant on Deed's clock, if it comes before the scheduled time.
        case at(Instant)
        /// At the scheduled time. Until then, these jobs run as well. A job that is missing from the next run's list
        /// ends.
        case keeping([Job])
    }

    let name: String
    let schedule: Schedule
    /// How many threads run the job.
    var threads = 1
    var urgency = Urgency.usual
    /// The longest pause after repeated failures, in milliseconds.
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

    /// How long to pause after this many consecutive failures. The pause doubles each time.
    func pause(afterFailures count: Int) -> Int64 {
        min(longestPause, min(schedule.pause, 1000) << Int64(min(count - 1, 16)))
    }
}

package struct Run: Sendable {
    /// When the run began, by Deed's clock.
    package let startedAt: Instant
    /// The lease of a job that one instance runs for all; `nil` if every instance runs it.
    package let lease: Lease?
    let isWanted: @Sendable () -> Bool

    /// Whether to continue. A long run checks this between steps. It turns false when the service stops or when
    /// another instance takes over.
    package var goesOn: Bool { isWanted() }
}
