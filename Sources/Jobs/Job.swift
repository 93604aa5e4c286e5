package import Core
package import Threading

/// Something that happens without a call.
package struct Job: Sendable {
    /// What a run leaves to do.
    package enum Next: Sendable {
        /// There is more to do immediately.
        case atOnce
        /// Nothing before the schedule says so.
        case asScheduled
        /// Nothing before that instant of Deed's clock, where it comes before what the schedule says.
        case at(Instant)
    }

    let name: String
    let schedule: Schedule
    /// How many threads run it.
    var threads = 1
    var urgency = Urgency.usual
    /// How long it rests at most when it fails again and again.
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

    /// The rest after that number of failures in a row: each is twice as long as the one before.
    func pause(afterFailures count: Int) -> Int64 {
        min(longestPause, min(schedule.pause, 1000) << Int64(min(count - 1, 16)))
    }
}

/// One run of a job.
package struct Run: Sendable {
    /// When it began, by Deed's clock.
    package let startedAt: Instant
    /// What says that it runs for all instances; `nil` where each runs for itself.
    package let lease: Lease?
    let isWanted: @Sendable () -> Bool

    /// Whether to go on. A long run asks between its steps: it is over when the service stops, and when
    /// another instance has taken over.
    package var goesOn: Bool { isWanted() }
}
