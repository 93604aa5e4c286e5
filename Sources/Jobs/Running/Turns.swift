import Core
import Ledger
import Threading

/// Whose turn it is to run a job: each instance's own, or that of the one that has the lease.
final class Turns: Sendable {
    struct Turn: Sendable {
        let startedAt: Instant
        let lease: Lease?
    }
    private static let leaseMilliseconds: Int64 = 15_000

    private struct State {
        /// Before that the database need not be asked.
        var due = Instant.distantPast
        /// When the last run wanted the next one, where that is sooner than the schedule.
        var early = Instant.distantFuture
        /// By the clock that only moves forward.
        var renewedAt: Int64 = 0
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

    /// The turn, if it is this instance's.
    func take() throws(Fault) -> Turn? {
        let now = now()
        if case .everywhere = job.schedule { return Turn(startedAt: now, lease: nil) }
        let (due, early) = state.change { ($0.due, $0.early) }
        if due > now { return nil }
        let lastRun = try ledger.lastRun(of: job.name)
        let next = min(early, job.schedule.due(after: lastRun, known: known, now: now))
        state.change { $0.due = next }
        if next > now { return nil }
        let lease = try ledger.takeLease(
            of: job.name, at: machineClock(), until: leaseEnd, lastRun: lastRun)
        guard let lease else { return nil }
        state.change { state in
            state.renewedAt = monotonicMilliseconds()
            state.early = .distantFuture
        }
        return Turn(startedAt: now, lease: lease)
    }

    /// Whether the turn is this instance's still, as far as that can be told.
    func keep(_ turn: Turn) -> Bool {
        guard let lease = turn.lease else { return true }
        let time = monotonicMilliseconds()
        let age = time - state.change { $0.renewedAt }
        if age < Turns.leaseMilliseconds / 3 { return true }
        let isKept = try? ledger.keep(lease, until: leaseEnd)
        if isKept == true { state.change { $0.renewedAt = time } }
        // While the database cannot be asked, no other instance can take it, either.
        return isKept ?? (age < Turns.leaseMilliseconds)
    }

    /// Gives the turn back after a run that came to its end.
    func end(_ turn: Turn, _ next: Job.Next) throws(Fault) {
        if case .at(let instant) = next { state.change { $0.early = instant } }
        if case .atOnce = next { state.change { $0.early = turn.startedAt } }
        guard let lease = turn.lease else { return }
        try ledger.end(lease, ranAt: turn.startedAt)
        let due = job.schedule.due(after: turn.startedAt, known: known, now: now())
        state.change { $0.due = min($0.early, due) }
    }

    /// Gives the turn back after a run that failed.
    func abandon(_ turn: Turn) {
        // Where that fails, too, the lease runs out.
        if let lease = turn.lease { try? ledger.end(lease, ranAt: nil) }
    }

    /// How long to rest.
    func pause(before next: Job.Next) -> Int64 {
        switch next {
        case .atOnce: 0
        case .at(let instant): min(job.schedule.pause, now().milliseconds(until: instant))
        case .asScheduled: pause
        }
    }

    private var pause: Int64 {
        let left = now().milliseconds(until: state.change { $0.due })
        return left == 0 ? job.schedule.pause : min(job.schedule.pause, left)
    }

    private var leaseEnd: Instant {
        machineClock().advanced(byMilliseconds: Turns.leaseMilliseconds)
    }
}

extension Instant {
    /// None when the other one is past.
    fileprivate func milliseconds(until other: Instant) -> Int64 {
        if other <= self { return 0 }
        let (left, overflow) = other.milliseconds.subtractingReportingOverflow(milliseconds)
        return overflow ? .max : left
    }
}
