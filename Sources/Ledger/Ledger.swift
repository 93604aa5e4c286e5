package import Core
import Postgres
import SQL
package import Telemetry
import Threading

/// The append-only event database: appends commands, reads states and streams.
package final class Ledger: Sendable {
    private let settings: LedgerSettings
    private let cache: StateCache
    private let queues: [CommandQueue]
    private let running: Monitor<Int>
    let pool: Pool

    /// A ledger over a database whose schema is right (see `Schema`).
    package init(_ settings: LedgerSettings, log: Log, metrics: Metrics) {
        self.settings = settings
        let cache = StateCache(weightLimit: settings.cachedEvents)
        let queues = (0..<settings.committers).map { _ in
            CommandQueue(limit: settings.queueLimit)
        }
        let pool = Pool(settings.connection, size: settings.readers)
        let running = Monitor(queues.count)
        let measures = LedgerMeasures(metrics)
        for (index, queue) in queues.enumerated() {
            startThread("committer-\(index)") {
                var committer = Committer(
                    queue: queue, cache: cache, settings: settings, log: log, measures: measures)
                committer.run()
                running.change { $0 -= 1 }
            }
        }
        metrics.gauge("deed_commit_queue_depth", "Commands that wait for a committer.") {
            Int64(queues.reduce(0) { $0 + $1.depth })
        }
        metrics.gauge("deed_database_pool_in_use", "Connections for reads in use.") {
            Int64(pool.inUse)
        }
        metrics.gauge("deed_database_pool_size", "Connections for reads.") { Int64(pool.size) }
        self.cache = cache
        self.queues = queues
        self.pool = pool
        self.running = running
    }

    /// Decides the command on its stream's state and returns when its events are durable.
    package func append(_ command: Command) throws(CommandError) -> Outcome {
        let pending = PendingCommand(
            command, deadline: monotonicMilliseconds() + settings.patienceMilliseconds)
        let queue = queues[Int(command.stream.shard.number) % queues.count]
        if !queue.add(pending) { throw .fault(.busy) }
        return try pending.wait().get()
    }

    /// The state of a stream now, and the place in the log up to which it holds.
    package func state(of stream: Stream) throws(Fault) -> (state: StreamState, position: Position)
    {
        do throws(LedgerError) {
            return try read(stream)
        } catch {
            // What was cached is forgotten by now, so that reading again reads everything.
            if case .logShrunk = error, let again = try? read(stream) { return again }
            throw error.fault
        }
    }

    private func read(
        _ stream: Stream
    ) throws(LedgerError) -> (state: StreamState, position: Position) {
        var state = cache[stream] ?? StreamState(emptyFor: stream)
        let known = state.version
        let call = Statement.readStream(
            .int2(stream.shard.number), .text(stream.project.text),
            .text(stream.environment.rawValue), .text(stream.customer.text), .int8(known))
        var head: Int64 = 0
        try pool.settled { connection throws(LedgerError) in
            try connection.read([call]) { _, rows throws(LedgerError) in
                for row in 0..<rows.count {
                    head = rows.int8(row, 0)
                    if rows.isNull(row, 2) { continue }
                    let recorded = try EventRow(rows, row, first: 1).recorded()
                    state.apply(recorded.event, recordedAt: recorded.recordedAt)
                }
            }
        }
        if !cache.observe(head: head, of: stream.shard) { throw .logShrunk }
        if state.version > known { cache.keep(state, of: stream) }
        return (state, Position(shard: stream.shard, sequence: head))
    }

    /// Up to `limit` events of a stream after a version.
    package func events(
        of stream: Stream, after version: Int64, limit: Int
    ) throws(Fault) -> [LogEntry] {
        let call = Statement.listEvents(
            .int2(stream.shard.number), .text(stream.project.text),
            .text(stream.environment.rawValue), .text(stream.customer.text), .int8(version),
            .int8(Int64(limit)))
        return try list(call) { rows, row throws(LedgerError) in
            let event = try EventRow(rows, row)
            return LogEntry(
                recorded: try event.recorded(), type: event.type, payload: event.payload)
        }
    }

    /// One item for each row that the call gives.
    func list<Item>(
        _ call: Call, _ item: (borrowing Rows, Int) throws(LedgerError) -> Item
    ) throws(Fault) -> [Item] {
        do throws(LedgerError) {
            return try pool.settled { connection throws(LedgerError) in
                var items: [Item] = []
                try connection.read([call]) { _, rows throws(LedgerError) in
                    for row in 0..<rows.count { items.append(try item(rows, row)) }
                }
                return items
            }
        } catch {
            throw error.fault
        }
    }

    /// Takes no more commands, finishes those that wait, and returns when the committers are done.
    package func close() {
        for queue in queues { queue.close() }
        running.wait { $0 == 0 ? () : nil }
    }
}
