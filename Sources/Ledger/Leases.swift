package import Core
import Postgres
import SQL

/// What one instance does for all of them.
extension Ledger {
    /// When the job's last run began that came to its end, by Deed's clock.
    package func lastRun(of job: String) throws(Fault) -> Instant? {
        try list(Statement.findLease(.text(job)), over: watching) { rows, row in
            rows.optionalInt8(row, 0).map(Instant.init(milliseconds:))
        }.first.flatMap(\.self)
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
