package import Core
package import Threading

/// Work that happens without a call.
package struct Job: Sendable {
    /// When a job runs next.
    package enum Next: Sendable {
        /// There is more to do immediately.
        case atOnce
        /// At the scheduled time.
        case asScheduled
        /// At that instant of Deed's clock, if it comes before the scheduled time.
        case at(Instant)
        /// At the scheduled time. Until then these jobs run too; a job that the next run does not name ends.
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

    /// The rest after that many consecutive failures: each is twice as long as the one before.
    func pause(afterFailures count: Int) -> Int64 {
        min(longestPause, min(schedule.pause, 1000) << Int64(min(count - 1, 16)))
    }
}

/// One run of a job.
package struct Run: Sendable {
    /// When it began, by Deed's clock.
    package let startedAt: Instant
    /// The lease under which it runs for all instances; `nil` if each runs for itself.
    package let lease: Lease?
    let isWanted: @Sendable () -> Bool

    /// Whether to continue. A long run checks this between its steps: it ends when the service stops,
    /// and when another instance has taken over.
    package var goesOn: Bool { isWanted() }
}
