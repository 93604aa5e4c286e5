package import Core
import Synchronization

/// Where all instances find the test clock of their database.
package protocol ClockPlace: Sendable {
    /// Where the clock stands; `nil` when the database has none.
    func instant() throws(Fault) -> Instant?
    /// Moves it there, unless it is past that or, where that is given, does not stand at `from`; whether
    /// it did.
    func move(to target: Instant, from: Instant?) throws(Fault) -> Bool
    /// The first instant after one at which something changes by the clock alone.
    func nextDue(after instant: Instant) throws(Fault) -> Instant?
}

/// The clock of a database that was made to be tested. It stands until an admin moves it, goes forward
/// only, and is the same for every instance.
package final class SharedClock: Sendable {
    /// How often a clock that others move at the same time is tried to be advanced.
    private static let attempts = 100

    private let milliseconds: Atomic<Int64>
    private let place: any ClockPlace
    private let onMove: Mutex<@Sendable (Instant) -> Void>
    private let jobs = Mutex<CatchUp>({ _ in true })

    /// Does what is due by the clock as it stands, and waits for that; false when it takes longer.
    package typealias CatchUp = @Sendable (_ milliseconds: Int64) -> Bool
    /// How long the jobs may take before an answer says that they have not caught up.
    private static let patience: Int64 = 10_000

    package init(at instant: Instant, _ place: any ClockPlace) {
        milliseconds = Atomic(instant.milliseconds)
        self.place = place
        onMove = Mutex({ _ in })
    }

    /// Each answer about the clock waits for the jobs.
    package func attend(_ jobs: @escaping CatchUp) {
        self.jobs.withLock { $0 = jobs }
    }

    package var now: Instant {
        Instant(milliseconds: milliseconds.load(ordering: .acquiring))
    }

    /// `body` is called whenever the clock was moved, by whichever instance.
    package func whenMoved(_ body: @escaping @Sendable (Instant) -> Void) {
        onMove.withLock { $0 = body }
    }

    /// Looks where the other instances have moved it.
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

/// Where a test clock stands, and when something happens by it next.
package struct ClockAnswer: Hashable, Sendable {
    package let now: Instant
    package let nextDue: Instant?
    /// Whether the jobs of this instance have done all that was due.
    package let isCaughtUp: Bool
}
