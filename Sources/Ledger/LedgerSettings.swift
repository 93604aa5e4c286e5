package import Core
package import Postgres
package import Telemetry

/// A ledger's settings. The defaults suit one instance on a small machine.
package struct LedgerSettings: Sendable {
    package static let serviceRole = "deed_service"

    package var connection: ConnectionSettings
    /// The clock that supplies the instants to record. It may be a test clock.
    package var clock: @Sendable () -> Instant
    /// The machine's clock, which is compared with the database's; `nil` to skip the comparison.
    package var machineClock: (@Sendable () -> Instant)?
    /// Where to store the furthest ends of the log that this process has seen.
    package var memory = LogMemory.none
    package var committers = 2
    /// The number of connections for reading states. Each handles many reads at a time.
    package var readers = 2
    /// The number of connections for lists of events, keys and projects.
    package var lookups = 8
    /// The maximum number of commands that wait for one committer, and of reads that wait for the readers.
    package var queueLimit = 4096
    /// How many background commands are committed together. A client may have to wait for all of them.
    package var backgroundBatch = 50
    /// The approximate amount of memory for recently used streams.
    package var cachedBytes = 128 << 20
    /// How long a command may wait for an unresponsive database.
    package var patienceMilliseconds: Int64 = 5000
    /// How long a read may wait for an unresponsive database.
    package var readPatienceMilliseconds: Int64 = 2000
    /// The pause between two queries for other instances' events.
    package var tailMilliseconds: Int64 = 50

    package init(connection: ConnectionSettings, clock: @escaping @Sendable () -> Instant) {
        self.connection = connection
        self.clock = clock
    }
}

package struct LedgerMeasures: Sendable {
    let batchSizes: Histogram
    let commitTimes: Histogram
    let blocked: Counter
    let bulkSizes: Histogram
    let readSizes: Histogram
    let keptStates: Counter

    package init(_ metrics: Metrics) {
        batchSizes = metrics.histogram(
            "deed_commit_batch_size", "Commands committed together.",
            bounds: Histogram.sizeBounds, unit: .plain)
        commitTimes = metrics.histogram(
            "deed_commit_seconds", "The time from taking a batch to its commit.")
        blocked = metrics.counter(
            "deed_log_blocked_total",
            "Commands that failed because an event lies beyond the head of their shard.")
        readSizes = metrics.histogram(
            "deed_read_batch_size", "Customers read together for separate calls.",
            bounds: Histogram.sizeBounds, unit: .plain)
        keptStates = metrics.counter(
            "deed_states_kept_total", "States of long streams that were stored next to the log.")
        bulkSizes = metrics.histogram(
            "deed_bulk_read_size", "Customers read together for one call.",
            bounds: Histogram.sizeBounds + [1024], unit: .plain)
    }
}
