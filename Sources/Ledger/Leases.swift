package import Core
import Postgres
import SQL
import Threading

/// What one instance does for all of them. A lease ends by the clock, or with the session of its holder.
extension Ledger {
    /// When the job's last run began that came to its end, by Deed's clock.
    package func lastRun(of job: String) throws(Fault) -> Instant? {
        try list(Statement.findLease(.text(job), .int8(0)), over: watching) { rows, row in
            rows.optionalInt8(row, 0).map(Instant.init(milliseconds:))
        }.first.flatMap(\.self)
    }

    /// Whether some instance has the lease.
    package func isHeld(_ name: String, at now: Instant) throws(Fault) -> Bool {
        try list(Statement.findLease(.text(name), .int8(now.milliseconds)), over: watching) {
            rows, row in rows.bool(row, 1)
        }.first ?? false
    }

    /// The job's lease; `nil` when another instance has it, or has run the job since `lastRun`.
    package func takeLease(
        of job: String, at now: Instant, until end: Instant, lastRun: Instant?
    ) throws(Fault) -> Lease? {
        try requireWritable()
        let call = Statement.takeLease(
            .text(job), .int8(now.milliseconds), .int8(end.milliseconds),
            .int8(lastRun?.milliseconds))
        return try list(call, over: watching) { rows, row in
            Lease(name: job, fence: rows.int8(row, 0))
        }.first
    }

    /// Holds it longer; false when another instance took it over.
    package func keep(_ lease: Lease, until end: Instant) throws(Fault) -> Bool {
        try requireWritable()
        let call = Statement.keepLease(
            .text(lease.name), .int8(lease.fence), .int8(end.milliseconds))
        return try list(call, over: watching) { _, _ in true }.first ?? false
    }

    /// Gives it back, after a run that began at `ranAt`, or after none.
    package func end(_ lease: Lease, ranAt: Instant?) throws(Fault) {
        try requireWritable()
        let call = Statement.endLease(
            .text(lease.name), .int8(lease.fence), .int8(ranAt?.milliseconds))
        _ = try list(call, over: watching) { _, _ in () }
    }
}

/// A lease that is renewed for as long as it is held.
package final class KeptLease: Sendable {
    private static let milliseconds: Int64 = 15_000

    private struct State {
        var isHeld = true
        var isOver = false
    }
    package let lease: Lease
    private let ledger: Ledger
    private let state = Monitor(State())

    /// Takes the lease by the machine's clock; `nil` when another instance has it, or has run the job since
    /// `lastRun`.
    package init?(
        _ name: String, of ledger: Ledger, lastRun: Instant? = nil,
        clock: @escaping @Sendable () -> Instant
    ) throws(Fault) {
        let now = clock()
        let taken = try ledger.takeLease(
            of: name, at: now, until: now.advanced(byMilliseconds: KeptLease.milliseconds),
            lastRun: lastRun)
        guard let taken else { return nil }
        (self.ledger, lease) = (ledger, taken)
        startThread("lease") { [self] in renew(clock) }
    }

    /// Whether it is this instance's still, as far as that can be told.
    package var isHeld: Bool { state.change(wake: .none) { $0.isHeld } }

    /// Gives it back, after a run that began at `ranAt`, or after none.
    package func end(ranAt: Instant? = nil) throws(Fault) {
        state.change { $0.isOver = true }
        try ledger.end(lease, ranAt: ranAt)
    }

    private func renew(_ clock: () -> Instant) {
        var renewedAt = monotonicMilliseconds()
        while state.wait(
            milliseconds: KeptLease.milliseconds / 3, for: { $0.isOver ? () : nil }) == nil
        {
            let time = monotonicMilliseconds()
            let isKept = try? ledger.keep(
                lease, until: clock().advanced(byMilliseconds: KeptLease.milliseconds))
            if isKept == true { renewedAt = time }
            // While the database cannot be asked, no other instance can take it, either.
            let isHeld = isKept ?? (time - renewedAt < KeptLease.milliseconds)
            state.change { $0.isHeld = isHeld }
        }
    }
}
