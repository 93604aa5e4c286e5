package import Core
package import Following
import Postgres
import SQL
package import Telemetry
import Threading

/// The append-only event database. It carries out commands, appends their events, and reads states and streams.
package final class Ledger: Sendable {
    package let settings: LedgerSettings
    let cache: StateCache
    private let commands: [BoundedQueue<PendingCommand>]
    private let reads: ReadQueue
    private let past: PastReader
    private let announced: Announced
    private let running: Monitor<Int>
    private let readers = LogReaders()
    let knownKeys: KnownKeys
    let unread: UnreadStreams
    /// The instants that the clock has passed and for which nothing is left to publish.
    let published = PublishedInstants()
    let troubles = LastTrouble()
    let clocks: Clocks
    /// The part of the log that this process has seen. Each server is compared with it.
    package let known: LogGuard
    private let greet: Greeting
    let pulse = Pulse()
    private let isFollowed = Monitor(false)
    private let isClosing = Monitor(false)
    private let log: Log
    let measures: LedgerMeasures
    let pool: Pool
    /// Connections for reads of keys and apps, which reads of lists must not delay.
    let watching: Pool
    /// Connections for webhook deliveries, which are recorded constantly.
    let delivering: Pool
    /// A connection for health checks, which must notice a silent database quickly.
    let looking: Monitor<Link>
    let hanging = Hanging()
    let certainty = Monitor(Certainty())
    /// Whether the database can have several addresses.
    let hasOtherAddresses: Bool
    let condition: DatabaseCondition

    /// Creates a ledger on a database with a valid schema (see `Schema`).
    package init(_ settings: LedgerSettings, log: Log, metrics: Metrics) {
        self.log = log
        var settings = settings
        settings.connection.pulse = pulse
        self.settings = settings
        cache = StateCache(bytes: settings.cachedBytes)
        known = LogGuard(settings.memory, log: log)
        let databaseClock = DatabaseClock(settings.machineClock, log: log, metrics: metrics)
        clocks = Clocks(now: settings.clock, database: databaseClock)
        commands = (0..<settings.committers).map { _ in BoundedQueue(limit: settings.queueLimit) }
        reads = ReadQueue(limit: settings.queueLimit)
        announced = Announced(committers: settings.committers)
        unread = UnreadStreams(log: log)
        past = PastReader(
            limit: settings.queueLimit, cache: cache.catalogs, unread: unread)
        greet = { [known, cache, clocks, published] connection, isFirst throws(PostgresError) in
            try known.greet(&connection, clocks.database)
            published.forget()
            // The guard has found in this server's log everything that the folds cover, unless a loss was accepted.
            cache.begin(epoch: known.epoch)
        }
        pool = Pool(settings.connection, size: settings.lookups, greet: greet)
        watching = Pool(settings.connection, size: 1, greet: greet)
        delivering = Pool(settings.connection, size: 1, greet: greet)
        hasOtherAddresses = settings.connection.namesSeveralServers
        looking = Monitor(Link(settings.connection.forLooking, greet: greet))
        condition = DatabaseCondition(log: log)
        running = Monitor(2 * settings.committers + 4)
        measures = LedgerMeasures(metrics)
        knownKeys = KnownKeys(log: log)
        startCommitters(log, measures)
        startReaders(measures)
        startKeeper(measures)
        startThread("catalogs", .patient) { [past, pool, running] in
            past.run(pool)
            running.change { $0 -= 1 }
        }
        addGauges(to: metrics)
    }

    private func startCommitters(_ log: Log, _ measures: LedgerMeasures) {
        for (index, queue) in commands.enumerated() {
            let answers = BoundedQueue<Committer.Given>(limit: settings.queueLimit)
            startThread("committer-\(index)", .patient) {
                [
                    announced, reads, cache, past, readers, settings, clocks, condition, known,
                    unread,
                    greet, running
                ] in
                var committer = Committer(
                    queue: queue, announced: announced, answers: answers,
                    reads: reads, cache: cache, past: past, readers: readers,
                    settings: settings, clocks: clocks,
                    condition: condition, known: known, unread: unread, greet: greet, log: log,
                    measures: measures)
                committer.run()
                running.change { $0 -= 1 }
            }
            answers.startGiving("answers-\(index)") { [running] in running.change { $0 -= 1 } }
        }
    }

    private func startReaders(_ measures: LedgerMeasures) {
        let heavy = BoundedQueue<StateReader.Given>(limit: settings.queueLimit)
        let reading = Monitor(settings.readers)
        for number in 0..<settings.readers {
            startThread("reader-\(number)") {
                [reads, cache, known, unread, troubles, settings, greet] in
                var reader = StateReader(
                    number, queue: reads, heavy: heavy, cache: cache, known: known, unread: unread,
                    troubles: troubles, settings: settings, greet: greet, sizes: measures.readSizes)
                reader.run()
                reading.change { $0 -= 1 }
            }
        }
        heavy.startGiving("heavy-answers") { [running] in running.change { $0 -= 1 } }
        startThread("patience") { [reads, running] in
            var isBusy = false
            while reading.wait(milliseconds: isBusy ? 5 : 100, for: { $0 == 0 ? () : nil }) == nil {
                isBusy = reads.passBy()
            }
            heavy.close()
            running.change { $0 -= 1 }
        }
    }

    private func startKeeper(_ measures: LedgerMeasures) {
        startThread("states") { [cache, settings, known, condition, log, greet, running] in
            cache.keeper.run(
                settings.connection, known: known, condition: condition, log: log,
                kept: measures.keptStates, greet: greet)
            running.change { $0 -= 1 }
        }
    }

    /// Informs the reader of everything that is appended from now on.
    package func follow(with reader: any LogReader) {
        readers.add(reader)
        let isFirst = isFollowed.change { isFollowed in
            defer { isFollowed = true }
            return !isFollowed
        }
        if !isFirst { return }
        running.change { $0 += 1 }
        startThread("log") { [readers, settings, known, unread, greet, log, running, isClosing] in
            var follower = Follower(
                readers, settings: settings, known: known, unread: unread, greet: greet,
                log: log)
            follower.run { isMore in
                let milliseconds = isMore ? 0 : settings.tailMilliseconds
                return isClosing.wait(milliseconds: milliseconds) { $0 ? () : nil } == nil
            }
            running.change { $0 -= 1 }
        }
    }

    private func addGauges(to metrics: Metrics) {
        metrics.gauge("deed_commit_queue_depth", "Commands that are waiting for a committer.") {
            [commands] in Int64(commands.reduce(0) { $0 + $1.depth })
        }
        metrics.gauge("deed_commands_announced", "Commands that are still being judged.") {
            [announced] in Int64(announced.value)
        }
        metrics.gauge("deed_read_queue_depth", "Reads that are waiting for a reader.") { [reads] in
            Int64(reads.depth)
        }
        metrics.gauge("deed_database_pool_in_use", "Connections for lists in use.") { [pool] in
            Int64(pool.inUse)
        }
        metrics.gauge("deed_state_bytes", "Approximate memory used by stream states.") {
            [cache] in Int64(cache.weight)
        }
        metrics.gauge("deed_keys_forged", "Key rows without an event.") { [knownKeys] in
            Int64(knownKeys.forgedCount)
        }
        metrics.gauge(
            "deed_streams_unread",
            "Streams, and rows outside the log, that could not be read in the last ten minutes."
        ) { [unread] in Int64(unread.count) }
        metrics.gauge("deed_database_pool_size", "Connections for lists.") { [pool] in
            Int64(pool.size)
        }
    }

    /// Raises the number of announced commands, or lowers it if `change` is negative.
    package func announce(_ change: Int) { announced.change(by: change) }

    /// Decides the command against the current state of its stream. Returns once its events are
    /// durable.
    package func append(_ command: Command) throws(CommandError) -> Outcome {
        let result = Monitor<PendingCommand.Answer?>(nil)
        submit(command) { answer in result.change(wake: .one) { $0 = answer } }
        // The committer gives up on a hanging server slightly later than the caller does.
        let patience = 2 * settings.patienceMilliseconds
        guard let answer = result.wait(milliseconds: patience, for: { $0 }) else {
            throw .fault(.unavailable)
        }
        return try answer.get()
    }

    /// Decides the command against the current state of its stream, and responds once its events
    /// are durable. Responds exactly once, on one of the ledger's threads.
    package func submit(
        _ command: Command,
        respond: @escaping @Sendable (Result<Outcome, CommandError>) -> Void
    ) {
        let patience = settings.patienceMilliseconds
        let pending = PendingCommand(
            command: command, patience: patience, deadline: monotonicMilliseconds() + patience,
            respond: respond)
        if !queue(of: command.stream.shard).add(pending) { respond(.failure(.fault(.busy))) }
    }

    func queue(of shard: Shard) -> BoundedQueue<PendingCommand> {
        commands[Int(shard.number) % commands.count]
    }

    /// Returns the current states of a customer and its project.
    package func customer(of stream: Stream) throws(Fault) -> CustomerSnapshot {
        try CustomerSnapshot(try reading(of: stream))
    }

    /// Reads without blocking. Responds exactly once, usually on one of the ledger's threads.
    package func read(
        _ stream: Stream, respond: @escaping @Sendable (Result<CustomerSnapshot, Fault>) -> Void
    ) {
        ask(stream) { answer in
            let reading = answer.mapError(\.fault)
            respond(Result { () throws(Fault) in try CustomerSnapshot(try reading.get()) })
        }
    }

    package func project(_ project: ProjectID) throws(Fault) -> ProjectState {
        try reading(of: .ofProject(project)).project
    }

    private func reading(of stream: Stream) throws(Fault) -> PlacedState {
        let result = Monitor<PendingRead.Answer?>(nil)
        ask(stream) { answer in result.change(wake: .one) { $0 = answer } }
        return try result.wait { $0 }.mapError(\.fault).get()
    }

    private func ask(_ stream: Stream, respond: @escaping @Sendable (PendingRead.Answer) -> Void) {
        let deadline = monotonicMilliseconds() + settings.readPatienceMilliseconds
        reads.add(PendingRead(stream, deadline: deadline, respond: respond))
    }

    /// Returns up to `limit` events of a stream after a version.
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

    /// Returns one item for each row of the call's result.
    func list<Item>(
        _ call: Call, over pool: Pool? = nil, isRepeatable: Bool = true,
        _ item: (borrowing Rows, Int) throws(LedgerError) -> Item
    ) throws(Fault) -> [Item] {
        try faulting { () throws(LedgerError) in
            try rows(call, over: pool, isRepeatable: isRepeatable, item)
        }
    }

    /// Sends calls whose rows do not matter.
    func send(_ calls: [Call], over pool: Pool? = nil) throws(Fault) {
        try faulting { () throws(LedgerError) in
            try (pool ?? self.pool).settled { connection throws(LedgerError) in
                try connection.execute(calls)
            }
        }
    }

    /// Returns the rows, or the reason why the database refused the call.
    func rows<Item>(
        _ call: Call, over pool: Pool? = nil, isRepeatable: Bool = true,
        _ item: (borrowing Rows, Int) throws(LedgerError) -> Item
    ) throws(LedgerError) -> [Item] {
        do throws(LedgerError) {
            return try (pool ?? self.pool).settled(isRepeatable: isRepeatable) {
                connection throws(LedgerError) in
                try connection.list(call, item)
            }
        } catch {
            troubles.note(error)
            throw error
        }
    }

    /// Stops accepting commands and reads, and finishes the waiting ones. Returns false if the
    /// database hung until the time limit.
    @discardableResult
    package func close() -> Bool {
        for queue in commands { queue.close() }
        reads.close()
        cache.keeper.close()
        past.close()
        isClosing.change { $0 = true }
        let milliseconds = 2 * settings.patienceMilliseconds
        defer { known.keep(isLast: true) }
        return running.wait(milliseconds: milliseconds) { $0 == 0 ? () : nil } != nil
    }
}
