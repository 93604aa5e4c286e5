import Core
import Ledger
import Threading

/// Decides whether it is this instance's turn to run a job. Some jobs run on every instance, so every instance
/// has its turn. For others, only the holder of the lease has a turn.
final class Turns: Sendable {
    struct Turn: Sendable {
        let startedAt: Instant
        let lease: KeptLease?

        /// Whether the turn still belongs to this instance, as far as the instance knows.
        var isHeld: Bool { lease?.isHeld ?? true }
    }

    private struct State {
        /// The instant before which a query to the database is unnecessary.
        var due = Instant.distantPast
        /// When `due` was determined. It is void once the clock has been set back behind that instant.
        var determinedAt = Instant.distantPast
        /// The instant for which the last run asked to run again, if that is before the scheduled
        /// time.
        var early = Instant.distantFuture
    }
    private let state = Monitor(State())
    private let job: Job
    private let ledger: Ledger
    private let now: @Sendable () -> Instant
    private let machineClock: @Sendable () -> Instant
    private let known: Instant

    init(
        _ job: Job, ledger: Ledger, now: @escaping @Sendable () -> Instant,
        machineClock: @escaping @Sendable () -> Instant
    ) {
        self.job = job
        self.ledger = ledger
        self.now = now
        self.machineClock = machineClock
        known = now()
    }

    /// Takes the turn if it belongs to this instance, and otherwise returns `nil`.
    func take() throws(Fault) -> Turn? {
        let now = now()
        if case .everywhere = job.schedule { return Turn(startedAt: now, lease: nil) }
        let (due, determinedAt, early) = state.change { ($0.due, $0.determinedAt, $0.early) }
        if due > now, determinedAt <= now { return nil }
        let lastRun = try ledger.lastRun(of: job.name)
        let next = min(early, job.schedule.due(after: lastRun, known: known, now: now))
        state.change { ($0.due, $0.determinedAt) = (next, now) }
        if next > now { return nil }
        let lease = try KeptLease(
            job.name, of: ledger, lastRun: lastRun, clock: machineClock)
        guard let lease else { return nil }
        state.change { $0.early = .distantFuture }
        return Turn(startedAt: now, lease: lease)
    }

    /// Gives up the turn after a completed run.
    func end(_ turn: Turn, _ next: Job.Next) throws(Fault) {
        if case .at(let instant) = next { state.change { $0.early = instant } }
        if case .atOnce = next { state.change { $0.early = turn.startedAt } }
        guard let lease = turn.lease else { return }
        try lease.end(ranAt: turn.startedAt)
        let now = now()
        let due = job.schedule.due(after: turn.startedAt, known: known, now: now)
        state.change { ($0.due, $0.determinedAt) = (min($0.early, due), now) }
    }

    /// A fault that an outage of the database does not explain; `nil` while the database is unavailable.
    var puzzle: String? { ledger.puzzle }

    /// Gives up the turn after a failed run.
    func abandon(_ turn: Turn) {
        // If this also fails, the lease expires.
        try? turn.lease?.end()
    }

    /// Returns how long to pause before the next run.
    func pause(before next: Job.Next) -> Int64 {
        switch next {
        case .atOnce: 0
        case .at(let instant): min(job.schedule.pause, now().milliseconds(until: instant))
        case .asScheduled, .keeping: pause
        }
    }

    private var pause: Int64 {
        let left = now().milliseconds(until: state.change { $0.due })
        return left == 0 ? job.schedule.pause : min(job.schedule.pause, left)
    }
}

extension Instant {
    /// Returns the milliseconds until the other instant; 0 if it has passed.
    fileprivate func milliseconds(until other: Instant) -> Int64 {
        if other <= self { return 0 }
        let (left, overflow) = other.milliseconds.subtractingReportingOverflow(milliseconds)
        return overflow ? .max : left
    }
}
