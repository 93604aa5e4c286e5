// How soon evidence is judged again, and how long attempts may take.

extension IntakeItem {
    private static let second: Int64 = 1000
    private static let minute: Int64 = 60 * second
    private static let hour: Int64 = 60 * minute

    /// The pauses after the first attempts. All later pauses have the length of the last one.
    package static let pauses = [
        5 * second, 30 * second, 2 * minute, 10 * minute, 30 * minute, hour, 3 * hour,
    ]
    /// How long a worker may keep an item without a sign of life before the worker is considered dead.
    package static let lease = 5 * minute
    /// The longest pause that Deed grants to a store.
    package static let longestWait = 24 * hour
    /// The number of attempts without a verdict after which an operator should look. These attempts
    /// take about 45 minutes.
    package static let alarmTries: Int64 = 6
    /// How long judged evidence can be looked up.
    package static let retention = 90 * 24 * hour
    /// The maximum number of waiting items in a project.
    package static let countLimit: Int64 = 10_000
    package static let byteLimit: Int64 = 512 << 20

    /// Returns the pause after this many attempts. It varies by up to a tenth, so that items that failed together are
    /// not retried together.
    package static func pause(afterTries tries: Int64, jitter: UInt16) -> Int64 {
        let step = Int(min(max(tries, 1), Int64(pauses.count))) - 1
        return pauses[step] * (900 + Int64(jitter) * 200 / Int64(UInt16.max)) / 1000
    }

    /// Returns when an item taken now becomes due again if no result arrives, for example because the evidence itself
    /// crashed the process.
    package static func leaseEnd(takenAt now: Instant, tries: Int64) -> Instant {
        now.advanced(byMilliseconds: max(lease, pause(afterTries: tries, jitter: .max / 2)))
    }
}
