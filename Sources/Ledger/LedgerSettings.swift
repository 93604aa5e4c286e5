package import Core
package import Postgres
package import Telemetry

/// How a ledger works; the defaults suit one instance on a small machine.
package struct LedgerSettings: Sendable {
    package static let serviceRole = "deed_service"

    package var connection: ConnectionSettings
    /// What is recorded follows this clock, which may be a test's.
    package var clock: @Sendable () -> Instant
    /// The machine's, held against the database's; without it nothing is compared.
    package var machineClock: (@Sendable () -> Instant)?
    /// Where it is kept what was seen of the log.
    package var memory = LogMemory.none
    package var committers = 2
    /// Connections for reads of states, each for many at a time.
    package var readers = 2
    /// Connections for lists: of events, keys, projects.
    package var lookups = 8
    /// Commands that may wait for one committer, and reads for the readers.
    package var queueLimit = 4096
    /// Commands of the background that are committed together: a client may have to wait for that number.
    package var backgroundBatch = 50
    /// The memory for states of recently used streams, roughly.
    package var cachedBytes = 128 << 20
    /// How long a command may wait for a database that does not answer.
    package var patienceMilliseconds: Int64 = 5000
    /// How long a read may.
    package var readPatienceMilliseconds: Int64 = 2000
    /// The pause between two looks at what other instances have appended.
    package var tailMilliseconds: Int64 = 50

    package init(connection: ConnectionSettings, clock: @escaping @Sendable () -> Instant) {
        self.connection = connection
        self.clock = clock
    }
}

/// What a ledger measures of itself.
package struct LedgerMeasures: Sendable {
    let batchSizes: Histogram
    let commitTimes: Histogram
    let blocked: Counter
    let bulkSizes: Histogram
    let readSizes: Histogram

    package init(_ metrics: Metrics) {
        batchSizes = metrics.histogram(
            "deed_commit_batch_size", "Commands committed together.",
            bounds: Histogram.sizeBounds, unit: .plain)
        commitTimes = metrics.histogram(
            "deed_commit_seconds", "From taking a batch to its commit.")
        blocked = metrics.counter(
            "deed_log_blocked_total",
            "Commands that failed because an event lies beyond the head of their shard.")
        readSizes = metrics.histogram(
            "deed_read_batch_size", "Customers read together for calls of their own.",
            bounds: Histogram.sizeBounds, unit: .plain)
        bulkSizes = metrics.histogram(
            "deed_bulk_read_size", "Customers read together for one call.",
            bounds: Histogram.sizeBounds + [1024], unit: .plain)
    }
}
