package import Core
import Synchronization

/// Where all instances find the test clock of the database.
package protocol ClockPlace: Sendable {
    /// Returns the clock's time; `nil` if the database does not have a test clock.
    func instant() throws(Fault) -> Instant?
    /// Moves the clock forward to `target`. If `from` is given, the clock moves only if it shows
    /// that time. Returns whether it moved.
    func move(to target: Instant, from: Instant?) throws(Fault) -> Bool
    /// Returns the next instant at which access changes or work becomes due without any call.
    func nextDue(after instant: Instant) throws(Fault) -> Instant?
}

/// The clock of a test database. It stands still until an admin moves it, only moves forward, and
/// is the same on every instance.
package final class SharedClock: Sendable {
    /// How many times to try to advance the clock while others move it.
    private static let attempts = 100

    private let milliseconds: Atomic<Int64>
    private let place: any ClockPlace
    private let onMove: Mutex<@Sendable (Instant) -> Void>
    private let jobs = Mutex<CatchUp>({ _ in true })

    /// Runs the work that is due at the clock's time and waits for it. Returns false if the work
    /// takes longer than the given time.
    package typealias CatchUp = @Sendable (_ milliseconds: Int64) -> Bool
    /// How long an answer waits for the jobs before it reports that they lag behind, in milliseconds.
    private static let patience: Int64 = 10_000

    package init(at instant: Instant, _ place: any ClockPlace) {
        milliseconds = Atomic(instant.milliseconds)
        self.place = place
        onMove = Mutex({ _ in })
    }

    /// Makes answers about the clock wait until these jobs have caught up.
    package func attend(_ jobs: @escaping CatchUp) {
        self.jobs.withLock { $0 = jobs }
    }

    package var now: Instant {
        Instant(milliseconds: milliseconds.load(ordering: .acquiring))
    }

    /// Sets the closure to call whenever any instance has moved the clock.
    package func whenMoved(_ body: @escaping @Sendable (Instant) -> Void) {
        onMove.withLock { $0 = body }
    }

    /// Checks whether other instances have moved the clock.
    package func follow() throws(Fault) {
        if let instant = try place.instant() { take(instant) }
    }

    private func take(_ instant: Instant) {
        let (before, _) = milliseconds.max(
            instant.milliseconds, ordering: .acquiringAndReleasing)
        if before >= instant.milliseconds { return }
        let body = onMove.withLock { $0 }
        body(instant)
    }

    package func answer() throws(CommandError) -> ClockAnswer {
        try obtain(follow())
        let catchUp = jobs.withLock { $0 }
        let isCaughtUp = catchUp(SharedClock.patience)
        let now = now
        return ClockAnswer(
            now: now, nextDue: try obtain(place.nextDue(after: now)), isCaughtUp: isCaughtUp)
    }

    package func set(to target: Instant) throws(CommandError) -> ClockAnswer {
        let isMoved = try obtain(place.move(to: target, from: nil))
        if !isMoved {
            try obtain(follow())
            throw .refused(.testClockGoesForward(from: now))
        }
        take(target)
        return try answer()
    }

    package func advance(by duration: CalendarDuration) throws(CommandError) -> ClockAnswer {
        for _ in 0..<SharedClock.attempts {
            try obtain(follow())
            let start = now
            let target = duration.end(after: start)
            if !Instant.writable.contains(target) { throw .refused(.testClockOutOfRange) }
            if try obtain(place.move(to: target, from: start)) {
                take(target)
                return try answer()
            }
        }
        throw .fault(.busy)
    }
}

/// A test clock's time, and the next instant at which something is due.
package struct ClockAnswer: Hashable, Sendable {
    package let now: Instant
    package let nextDue: Instant?
    /// Whether this instance's jobs have done all of the due work.
    package let isCaughtUp: Bool
}
