import API
import Core
import Delivery
import Feed
import Following
import Glibc
import HTTPServer
import JSON
import Jobs
import Ledger
package import Service
import Telemetry
import Threading
import Wording

package struct RunningService: Sendable {
    /// The milliseconds that the drain may take. The process ends after that time in any case.
    private static let drainMilliseconds: Int64 = 10_000

    private let parts: Parts
    private let servers: Servers
    private let runner: Runner
    private let foreignClock: ForeignClock
    private let bell = WebhookBell()
    private let isStopping: Monitor<Bool>
    private let signs: InstanceSigns
    private let log: Log

    /// Starts the service. Calls `stop` when the service cannot continue. The caller must then stop the service.
    package init(
        _ settings: ServiceSettings, _ database: Database, testClock: SharedClock?,
        _ outside: Outside, stop: @escaping @Sendable () -> Void
    ) throws(StartError) {
        log = outside.log
        var outside = outside
        outside.takesProduction = testClock == nil
        parts = Parts(
            settings.ledger(over: database, clock: testClock?.asClock ?? systemClock), outside,
            answerBytes: settings.answerBytes, staleMilliseconds: settings.staleMilliseconds)
        foreignClock = ForeignClock(log: log, stop: stop)
        let ledger = parts.live.ledger
        let watch = DatabaseWatch(
            ledger, over: database.serviceConnection, postgres: database.privatePostgres,
            foreignClock: testClock == nil ? foreignClock : nil, log: log)
        let (signs, stopping, foreign) = (
            InstanceSigns(settings, parts), Monitor(false), foreignClock
        )
        self.signs = signs
        isStopping = stopping
        let obstacles = { @Sendable in
            watch.obstacles(
                beside: foreign.obstacle
                    ?? (stopping.change(wake: .none) { $0 } ? RunningService.stopping : nil))
        }
        let renewal = TLSRenewal(settings, log: log)
        let own: [Job] = [
            watch.job, .remembering(ledger), parts.live.webhooks.job(parts.webhooks, bell),
            .signOfLife(of: signs.name, ledger, news: { signs.news() }) {
                stopping.change(wake: .none) { $0 }
                    ? nil : signs.says(obstacles().map(\.sentence))
            },
            .countingNeeds(parts.live, isForTests: testClock != nil, metrics: outside.metrics),
        ]
        let figures = settings.console.map { _ in Job.figures(ledger) }
        let others = [renewal?.job, testClock?.job, settings.nightly(parts, log), figures]
        runner = parts.runner(
            of: own + others.compactMap(\.self) + settings.forgetting(parts, outside), outside)
        var operations = Operations(
            obstacles: obstacles, metrics: outside.metrics, log: log, testClock: testClock)
        operations.isApart = settings.operations != nil
        do throws(ServerError) {
            servers = try Servers(
                settings, parts, operations, stamp: testClock?.stamp)
        } catch {
            ledger.close()
            throw .fault(error.description)
        }
        renewal?.begin(servers)
        signs.begin(servers)
        operations.publish(to: outside.metrics, servers)
        parts.live.store.tellLocked(to: log)
        start(watch, testClock)
        log.info(
            "ready",
            [
                "listen": .string(settings.server.listen), "port": .integer(Int(servers.port)),
                "operations_port": servers.operationsPort.map { .integer(Int($0)) } ?? .null,
                "console_port": servers.consolePort.map { .integer(Int($0)) } ?? .null,
                "console": .bool(settings.console != nil),
                "private_database": .bool(database.isPrivate),
                "process": .integer(Int(getpid())),
            ])
    }

    private static let stopping = "The instance is stopping; send requests elsewhere."

    private func start(_ watch: DatabaseWatch, _ clock: SharedClock?) {
        clock?.whenMoved { [log, runner] instant in
            log.info("test_clock_moved", ["now": .string(instant.text)])
            runner.hurry()
        }
        clock?.attend { [runner] in runner.catchUp(within: $0) }
        watch.whenBack { [runner] in runner.hurry() }
        let hurry = { @Sendable [runner] in
            for job in ["keys", "apps", "requested", "webhooks"] { runner.hurry(job) }
        }
        parts.live.ledger.follow(
            with: MemoryReader(
                Interest(),
                begin: { [bell] in
                    hurry(); bell.cut()
                }
            ) { [bell, live = parts.live, ring = parts.webhooks] events in
                let erased = events.filter { $0.type == EventType.customerErased.name }
                if !erased.isEmpty {
                    live.ledger.forget(erased)
                    live.feed.forget(erased)
                    let versions = erased.map { ($0.stream, $0.version) }
                    bell.tell(Dictionary(versions, uniquingKeysWith: max))
                }
                ring.hear(of: events.filter { $0.type == "webhook.set" }.map(\.stream.project))
                bell.ring(Set(events.map(\.stream.project)))
                if events.contains(where: \.stream.isOfProject) { hurry() }
            })
        // Checks the database before the service reports that it is running.
        watch.look()
        try? parts.keys.reload()
        try? parts.submissions.apps.reload()
        runner.start()
    }

    /// Why the service had to end; `nil` if it did not.
    package var end: StartError? {
        foreignClock.instant.map(StartError.testClockUnnamed)
    }

    package func stop() {
        log.info("stopping")
        isStopping.change { $0 = true }
        runner.stop()
        // Stops the feed first, which answers the waiting calls. The drain would otherwise wait for
        // them.
        parts.feed.stop()
        parts.live.store.close()
        let deadline = monotonicMilliseconds() + RunningService.drainMilliseconds
        if !servers.drain(milliseconds: RunningService.drainMilliseconds) {
            log.warning("drain_incomplete")
        }
        try? parts.keys.uses.write()
        try? parts.keys.refusals.write()
        let unfinished = runner.unfinished(after: max(1000, deadline - monotonicMilliseconds()))
        try? parts.live.ledger.forgetInstance(signs.name)
        if !unfinished.isEmpty {
            log.warning("jobs_incomplete", ["jobs": .array(unfinished.map(JSON.string))])
        }
        parts.live.webhooks.close()
        parts.live.ledger.close()
        log.info("stopped")
    }
}

extension Parts {
    /// Returns all jobs of a service: the given jobs, and jobs that need only the parts.
    fileprivate func runner(of jobs: [Job], _ outside: Outside) -> Runner {
        let (ledger, ports) = (live.ledger, live.useCases.ports)
        let intake = IntakeJobs(submissions, log: outside.log, metrics: outside.metrics)
        return Runner(
            jobs + [.keys(keys), .keyUses(keys), .refusedCalls(keys), .apps(submissions.apps)]
                + [
                    .projecting(Reprojection(ledger, .live), log: outside.log),
                    .publishing(Publishing(ledger, now: ports.now), metrics: outside.metrics),
                    .samplingStorage(ledger, now: outside.machineClock),
                    .unclaimedCount(ledger, metrics: outside.metrics),
                    .emptying(ports.erasures, log: outside.log),
                    .reconciled(ledger, metrics: outside.metrics),
                    .reportingRefunds(
                        RefundReports(live.intake, ledger, ledger),
                        log: outside.log, metrics: outside.metrics),
                    .requested(ledger, live.intake, log: outside.log) {
                        ReconcilePort($0, ledger, $1)
                    },
                ] + intake.all,
            leases: ledger, now: ports.now, machineClock: ports.machineClock, log: outside.log,
            metrics: outside.metrics)
    }
}

extension Operations {
    fileprivate func publish(to metrics: Metrics, _ servers: Servers) {
        metrics.gauge("deed_ready", "1 if this instance is ready, 0 if /readyz names reasons.") {
            [obstacles] in obstacles().isEmpty ? 1 : 0
        }
        metrics.gauge(
            "deed_tls_certificate_ends_timestamp_seconds",
            "When the certificate for new connections expires; 0 without TLS."
        ) { servers.certificateEnds ?? 0 }
    }
}

extension ServiceSettings {
    /// Returns the job that reconciles every project, or `nil` if this service does not reconcile.
    fileprivate func nightly(_ parts: Parts, _ log: Log) -> Job? {
        let live = parts.live
        return reconcileAt.map { time in
            .reconciling(at: time, live.intake, log: log) { ReconcilePort($0, live.ledger) }
        }
    }
}

extension ServiceSettings {
    /// Returns the jobs that delete old data.
    fileprivate func forgetting(_ parts: Parts, _ outside: Outside) -> [Job] {
        Forgetting(
            parts.live.ledger, after: forgetAfter, machineClock: outside.machineClock,
            log: outside.log, metrics: outside.metrics
        ).all
    }
}

extension SharedClock {
    fileprivate var asClock: Clock { { self.now } }

    /// A header in every answer.
    fileprivate var stamp: @Sendable () -> Header { { self.header } }
}

extension DatabaseWatch {
    /// Returns the obstacles to normal answers: one that the service itself reports, and those of the database.
    fileprivate func obstacles(beside own: String?) -> [Obstacle] {
        if let own { return [Obstacle(own)] }
        return (obstacle.map { [Obstacle($0)] } ?? [])
            + impediments.map { Obstacle($0.withRemedy, allowsReads: $0.allowsReads) }
    }
}
