package import Core
import Postgres
import SQL
import Threading

/// Leases for work that one instance does for all instances. A lease ends when its time is over or
/// when its holder's session ends.
extension Ledger {
    /// Returns when the job's last completed run began, according to Deed's clock.
    package func lastRun(of job: String) throws(Fault) -> Instant? {
        try list(Statement.findLease(.text(job), .int8(0)), over: watching) { rows, row in
            rows.optionalInt8(row, 0).map(Instant.init(milliseconds:))
        }.first.flatMap(\.self)
    }

    /// Returns whether any instance holds the lease.
    package func isHeld(_ name: String, at now: Instant) throws(Fault) -> Bool {
        try list(Statement.findLease(.text(name), .int8(now.milliseconds)), over: watching) {
            rows, row in rows.bool(row, 1)
        }.first ?? false
    }

    /// Takes the job's lease, or returns `nil` if another instance holds it or has run the job since `lastRun`.
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

    /// Extends the lease. Returns false if another instance has taken it over.
    package func keep(_ lease: Lease, until end: Instant) throws(Fault) -> Bool {
        try requireWritable()
        let call = Statement.keepLease(
            .text(lease.name), .int8(lease.fence), .int8(end.milliseconds))
        return try list(call, over: watching) { _, _ in true }.first ?? false
    }

    /// Gives up the lease after a run that began at `ranAt`; `nil` means that the job did not run.
    package func end(_ lease: Lease, ranAt: Instant?) throws(Fault) {
        try requireWritable()
        let call = Statement.endLease(
            .text(lease.name), .int8(lease.fence), .int8(ranAt?.milliseconds))
        _ = try list(call, over: watching) { _, _ in () }
    }
}

extension Connection {
    /// Throws unless the holder still has the lease. The lease then stays with the holder until the transaction ends.
    mutating func require(_ lease: Lease) throws(LedgerError) {
        let call = Statement.requireLease(.text(lease.name), .int8(lease.fence))
        if try list(call, { _, _ in () }).isEmpty { throw .leaseLost }
    }
}

/// A lease that is renewed as long as it is held.
package final class KeptLease: Sendable {
    private static let milliseconds: Int64 = 15_000

    private struct State {
        /// When the lease was last renewed, on the monotonic clock; `nil` once another instance has it.
        var renewedAt: Int64? = monotonicMilliseconds()
        var isOver = false
    }
    package let lease: Lease
    private let ledger: Ledger
    private let state = Monitor(State())

    /// Takes the lease by the machine's clock, or returns `nil` if another instance holds it or has run the job since
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

    /// Whether this instance still has the lease. A process that was suspended for longer than a lease lasts
    /// assumes that it has lost the lease. While the database is unreachable, no other instance can take it.
    package var isHeld: Bool {
        state.change(wake: .none) { state in
            state.renewedAt.map { monotonicMilliseconds() - $0 < KeptLease.milliseconds } ?? false
        }
    }

    /// Gives up the lease after a run that began at `ranAt`; `nil` means that the job did not run.
    package func end(ranAt: Instant? = nil) throws(Fault) {
        state.change { $0.isOver = true }
        try ledger.end(lease, ranAt: ranAt)
    }

    private func renew(_ clock: () -> Instant) {
        while state.wait(
            milliseconds: KeptLease.milliseconds / 3, for: { $0.isOver ? () : nil }) == nil
        {
            let time = monotonicMilliseconds()
            let isKept = try? ledger.keep(
                lease, until: clock().advanced(byMilliseconds: KeptLease.milliseconds))
            if let isKept { state.change { $0.renewedAt = isKept ? time : nil } }
        }
    }
}
