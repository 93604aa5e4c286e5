import API
import Core
import Crypto
import Glibc
import HTTPServer
import JSON
import Ledger
import Postgres
import PrivatePostgres
import Service
import Telemetry
import Threading

extension Option {
    static let listen = setting(
        "listen", "ADDRESS", "where the server listens; port 0 takes a free one",
        fallback: "127.0.0.1:8080")
    static let tlsCertificate = setting(
        "tls-certificate", "FILE", "certificate and chain in PEM, to speak HTTPS")
}

let serveCommand = CommandSpec(
    path: ["serve"], summary: "Serves the API until SIGTERM or SIGINT.",
    options: [
        .listen,
        .tlsCertificate,
        .setting("tls-key", "FILE", "the certificate's key in PEM"),
        .setting("workers", "COUNT", "requests answered at the same time", fallback: "64"),
        .setting("queue", "COUNT", "requests that may wait for a worker", fallback: "1024"),
        .setting("connections", "COUNT", "connections at the same time", fallback: "4096"),
        .setting(
            "connections-per-address", "COUNT", "connections of one address", fallback: "1024"),
        .setting(
            "trusted-proxies", "LIST", "proxies that speak for their clients, as in 10.0.0.0/8,::1"),
        .setting(
            "operations-listen", "ADDRESS",
            "where /readyz and /metrics are answered, and then only there"),
        .setting("readers", "COUNT", "database connections for reads", fallback: "2"),
        .setting("lookups", "COUNT", "database connections for lists", fallback: "8"),
        .setting("committers", "COUNT", "database connections for writes", fallback: "2"),
        .setting(
            "answer-memory", "MEGABYTES", "memory for answers about recently read customers",
            fallback: "256"),
        .setting(
            "max-stale", "SECONDS", "how old an answer may be while the database is gone",
            fallback: "60"),
        .extraRoots, .databaseURL, .dataDir, .serveTestClock,
    ],
    example: "deed serve --listen 127.0.0.1:8080"
) { invocation throws(CommandEnd) in
    StopSignal.install()
    let log = standardErrorLog
    let settings = Settings(invocation)
    var sizes = try ServiceSizes(invocation)
    sizes.fitDescriptors(log: log)
    let roots = try invocation.extraRoots()
    log.tellExtraRoots(roots)
    let lock = try settings.serviceLock(listen: sizes.server.listen)
    // Let go of last: who comes next must find the database stopped.
    defer { withExtendedLifetime(lock) {} }
    let database = try Database(settings, mayCreate: true, log: log)
    defer { database.privatePostgres?.leave() }
    try database.prepareSchema(log: log)
    let testClock = try database.sharedClock(of: invocation, log: log)
    let service = try RunningService(
        sizes, database, extraRoots: roots, testClock: testClock, log: log)
    StopSignal.wait()
    service.stop()
    if let instant = service.foreignClock { throw .testClockUnnamed(instant) }
}

extension Settings {
    /// The lock on the data folder; none where the database lives elsewhere.
    fileprivate func serviceLock(listen: String) throws(CommandEnd) -> ServiceLock? {
        if databaseURL != nil { return nil }
        do throws(PrivatePostgresError) {
            return try ServiceLock(folder: dataFolder, listen: listen)
        } catch {
            guard case .inUse = error else { throw .fault(error.description) }
            throw .refused(code: "data_folder_in_use", sentence: error.description)
        }
    }
}

/// What the flags say of server and ledger; read before anything is started.
private struct ServiceSizes {
    /// What is open besides connections of clients whom it serves and of its own to the database.
    private static let otherDescriptors = 256

    private(set) var server: ServerSettings
    let operations: ServerSettings?
    private let readers: Int?
    private let lookups: Int?
    private let committers: Int?
    let answerBytes: Int
    let staleMilliseconds: Int64

    init(_ invocation: Invocation) throws(CommandEnd) {
        server = try ServerSettings(invocation)
        operations = try ServerSettings(operationsOf: invocation)
        readers = try invocation.integer("readers", in: 1...1000)
        lookups = try invocation.integer("lookups", in: 1...1000)
        committers = try invocation.integer("committers", in: 1...64)
        answerBytes = (try invocation.integer("answer-memory", in: 1...1_000_000) ?? 256) << 20
        staleMilliseconds =
            Int64(try invocation.integer("max-stale", in: 0...86_400) ?? 60) * 1000
    }

    /// Serves no more connections than there are descriptors for: the rest of the service needs some.
    mutating func fitDescriptors(log: Log) {
        let others =
            ServiceSizes.otherDescriptors + (readers ?? 0) + (lookups ?? 0) + (committers ?? 0)
        let wanted = server.connections + others + (operations?.connections ?? 0)
        let allowed = allowDescriptors(wanted)
        if allowed >= wanted { return }
        server.connections = max(1, allowed - others)
        log.warning(
            "few_descriptors",
            [
                "allowed": .integer(allowed), "wanted": .integer(wanted),
                "connections": .integer(server.connections),
                "remedy":
                    "raise the hard limit of open files (ulimit -Hn, LimitNOFILE= of systemd)",
            ])
    }

    func ledger(over database: Database, clock: @escaping Clock) -> LedgerSettings {
        var settings = LedgerSettings(connection: database.serviceConnection, clock: clock)
        settings.readers = readers ?? settings.readers
        settings.lookups = lookups ?? settings.lookups
        settings.committers = committers ?? settings.committers
        return settings
    }
}

/// The parts of a service that is up.
private struct RunningService {
    /// What drain may take before the process ends all the same.
    private static let drainMilliseconds: Int64 = 10_000

    private let live: Live
    private let servers: Servers
    private let watch: Watch
    private let projector: Projector
    private let intake: IntakeWorkers
    private let clockFollower: ClockFollower?
    private let log: Log

    init(
        _ sizes: ServiceSizes, _ database: Database, extraRoots: [Certificate],
        testClock: SharedClock?, log: Log
    ) throws(CommandEnd) {
        self.log = log
        let clock = testClock?.asClock ?? systemClock
        let metrics = Metrics()
        let answers = AnswerCache(
            bytes: sizes.answerBytes, now: clock, monotonicClock: monotonicMilliseconds,
            render: { $0.ready })
        live = Live(
            sizes.ledger(over: database, clock: clock), extraRoots: extraRoots, log: log,
            metrics: metrics, answers: answers)
        let keys = KeyRing(live.ports)
        let reads = CustomerReads(
            live.ports, cache: answers, staleMilliseconds: sizes.staleMilliseconds)
        reads.publish(to: metrics)
        projector = Projector(live.ledger, log: log, metrics: metrics)
        let unknown = UnknownProducts(metrics, log: log, clock: systemClock)
        let submissions = Submissions(live.ports, apps: AppRing(live.ports)) {
            unknown.notice($1, of: $0)
        }
        intake = IntakeWorkers(
            live.ports, IntakeWorker(live.ports, record: submissions.record), log: log,
            metrics: metrics)
        clockFollower = testClock.map(ClockFollower.init)
        watch = Watch(
            keys: keys, apps: submissions.apps, database: database,
            foreignClock: testClock == nil ? live.ledger.readTestClock : nil, log: log)
        answers.whenProjectsChange { [watch] in watch.hurry() }
        var operations = Operations(
            obstacles: watch.obstacles, metrics: metrics, log: log, testClock: testClock)
        operations.isApart = sizes.operations != nil
        let router = Router(reads, submissions, keys: keys, operations: operations)
        var settings = sizes.server
        settings.stamp = testClock?.stamp
        do throws(ServerError) {
            servers = try Servers(settings, router, sizes.operations, operations, metrics)
        } catch {
            live.ledger.close()
            throw .fault(error.description)
        }
        start(following: testClock)
        log.info(
            "ready",
            [
                "listen": .string(sizes.server.listen), "port": .integer(Int(servers.port)),
                "operations_port": servers.operationsPort.map { .integer(Int($0)) } ?? .null,
                "private_database": .bool(database.privatePostgres != nil),
                "process": .integer(Int(getpid())),
            ])
    }

    private func start(following clock: SharedClock?) {
        clock?.whenMoved { [log, intake] instant in
            log.info("test_clock_moved", ["now": .string(instant.text)])
            intake.hurry()
        }
        clockFollower?.start()
        watch.start()
        projector.start()
        intake.start()
    }

    /// Where the test clock stands that another instance gave the database; `nil` when none did.
    var foreignClock: Instant? { watch.foreignInstant }

    func stop() {
        log.info("stopping")
        watch.stop()
        projector.stop()
        intake.stop()
        clockFollower?.stop()
        let isDrained = servers.drain(milliseconds: RunningService.drainMilliseconds)
        if !isDrained { log.warning("drain_incomplete") }
        if !watch.isOver(within: RunningService.drainMilliseconds) {
            log.warning("watch_incomplete")
        }
        if !intake.isOver(within: RunningService.drainMilliseconds) {
            log.warning("intake_incomplete")
        }
        live.ledger.close()
        log.info("stopped")
    }
}
