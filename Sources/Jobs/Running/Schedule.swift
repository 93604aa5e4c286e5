package import Core

/// When a job runs.
package enum Schedule: Sendable {
    /// The job runs on every instance, this many milliseconds after the previous run.
    case everywhere(milliseconds: Int64)
    /// The job runs on one instance at a time, this many milliseconds after the previous run, regardless of Deed's
    /// clock.
    case alone(milliseconds: Int64)
    /// The job runs on one instance at a time, at intervals of this many milliseconds on Deed's
    /// clock.
    case once(milliseconds: Int64)
    /// The job runs on one instance at a time, once a day.
    case daily(TimeOfDay)

    /// Returns when the next run of a job that only one instance runs at a time is due. For a job that has never run,
    /// the time is counted from when this instance first knew of the job.
    func due(after lastRun: Instant?, known: Instant, now: Instant) -> Instant {
        switch self {
        case .everywhere, .alone: return now
        case .once(let milliseconds):
            // If the clock was set back, the job is due now rather than when the clock reaches the
            // last run again.
            guard let lastRun, lastRun <= now else { return now }
            return lastRun.advanced(byMilliseconds: milliseconds)
        case .daily(let time):
            // As above: otherwise, the job would wait for as long as the clock was ahead. Clocks of
            // instances may differ by a moment, which must not repeat a night.
            let since = lastRun ?? known
            let limit = now.advanced(byMilliseconds: 60_000)
            return since > limit ? now : time.next(after: since)
        }
    }

    /// The pause between two runs of a job, or between two checks of whether it is this instance's turn.
    var pause: Int64 {
        switch self {
        case .everywhere(let milliseconds), .alone(let milliseconds): milliseconds
        case .once(let milliseconds): min(milliseconds, Schedule.look)
        case .daily: Schedule.look
        }
    }

    /// The time between checks. It is short because Deed's clock may move and other instances may die.
    private static let look: Int64 = 5000
}

/// A time of day in UTC, in hours and minutes.
package struct TimeOfDay: Hashable, Sendable {
    private static let day: Int64 = 86_400_000
    private let milliseconds: Int64

    /// Parses a time such as `03:00`.
    package init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        guard parts.count == 2,
            parts.allSatisfy({ $0.utf8.count == 2 && $0.utf8.allSatisfy(digits.contains) }),
            let hour = UInt8(parts[0]), hour < 24, let minute = UInt8(parts[1]), minute < 60
        else { return nil }
        milliseconds = (Int64(hour) * 60 + Int64(minute)) * 60_000
    }

    /// Returns the latest instant with this time of day that is not after the given one.
    package func last(by instant: Instant) -> Instant {
        next(after: instant.advanced(byMilliseconds: -TimeOfDay.day))
    }

    /// Returns the first instant with this time of day after the given one.
    package func next(after instant: Instant) -> Instant {
        let day = TimeOfDay.day
        let past = instant.milliseconds - milliseconds
        let days = past >= 0 ? past / day + 1 : -((-past - 1) / day)
        return Instant(milliseconds: days * day + milliseconds)
    }
}
