import API
import Core
import Glibc
import HTTPServer
import JSON
import Jobs
import Ledger
package import Service
import Telemetry

/// A service that is up.
package struct RunningService: Sendable {
    /// What drain may take before the process ends all the same.
    private static let drainMilliseconds: Int64 = 10_000

    private let parts: Parts
    private let servers: Servers
    private let watch: Watch
    private let projector: Projector
    private let intake: IntakeWorkers
    private let clockFollower: ClockFollower?
    private let log: Log

    /// `stop` is called when the service cannot go on; whoever started it then stops it.
    package init(
        _ settings: ServiceSettings, _ database: Database, testClock: SharedClock?,
        _ outside: Outside, stop: @escaping @Sendable () -> Void
    ) throws(StartError) {
        log = outside.log
        parts = Parts(
            settings.ledger(over: database, clock: testClock?.asClock ?? systemClock), outside,
            answerBytes: settings.answerBytes, staleMilliseconds: settings.staleMilliseconds)
        let (ledger, ports) = (parts.live.ledger, parts.live.ports)
        projector = Projector(ledger, log: log, metrics: outside.metrics)
        intake = IntakeWorkers(
            ports, IntakeWorker(ports, record: parts.submissions.record), log: log,
            metrics: outside.metrics)
        clockFollower = testClock.map(ClockFollower.init)
        watch = Watch(
            keys: parts.keys, apps: parts.submissions.apps, connection: database.serviceConnection,
            postgres: database.privatePostgres,
            foreignClock: testClock == nil ? ledger.readTestClock : nil, log: log, stop: stop)
        parts.answers.whenProjectsChange { [watch] in watch.hurry() }
        var operations = Operations(
            obstacles: watch.obstacles, metrics: outside.metrics, log: log, testClock: testClock)
        operations.isApart = settings.operations != nil
        do throws(ServerError) {
            servers = try Servers(
                settings, parts.router(operations), operations, stamp: testClock?.stamp)
        } catch {
            ledger.close()
            throw .fault(error.description)
        }
        start(following: testClock)
        log.info(
            "ready",
            [
                "listen": .string(settings.server.listen), "port": .integer(Int(servers.port)),
                "operations_port": servers.operationsPort.map { .integer(Int($0)) } ?? .null,
                "private_database": .bool(database.isPrivate),
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

    /// Why it could not go on; `nil` while it can.
    package var end: StartError? {
        watch.foreignInstant.map(StartError.testClockUnnamed)
    }

    package func stop() {
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
        parts.live.ledger.close()
        log.info("stopped")
    }
}

extension SharedClock {
    fileprivate var asClock: Clock { { self.now } }

    /// A header of every answer.
    fileprivate var stamp: @Sendable () -> Header { { self.header } }
}

extension Ledger {
    /// What a watch asks for a test clock.
    fileprivate var readTestClock: @Sendable () throws(Fault) -> Instant? {
        { () throws(Fault) in try self.testClock() }
    }
}
