package import Core
package import Threading

/// Work that runs in the background.
package struct Job: Sendable {
    package enum Next: Sendable {
        /// The job runs immediately, because more work remains.
        case atOnce
        case asScheduled
        /// The job runs at that instant on Deed's clock, if it comes before the scheduled time.
        case at(Instant)
        /// The job runs at the scheduled time, and until then keeps these other jobs running. A job
        /// that is missing from the next run's list ends.
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

    /// Returns the length of the pause after this many consecutive failures. The length doubles
    /// with each failure.
    func pause(afterFailures count: Int) -> Int64 {
        min(longestPause, min(schedule.pause, 1000) << Int64(min(count - 1, 16)))
    }
}

package struct Run: Sendable {
    /// When the run began, according to Deed's clock.
    package let startedAt: Instant
    /// The lease of a job that only one instance runs at a time; `nil` if every instance runs the job.
    package let lease: Lease?
    let isWanted: @Sendable () -> Bool

    /// Whether to continue. A long run checks this between its steps. It becomes false when the service stops or when
    /// another instance takes over.
    package var goesOn: Bool { isWanted() }

    /// The minimum pause after a page, in milliseconds.
    private static let shortestRest: Int64 = 10

    /// Handles pages until there are no more. Pauses for as long as each page took, because other work has priority.
    func forEachPage(_ page: () throws(Fault) -> Bool) throws(Fault) {
        while goesOn {
            let begin = monotonicMilliseconds()
            if try !page() { return }
            pause(milliseconds: max(Run.shortestRest, monotonicMilliseconds() - begin))
        }
    }
}
