package import API
package import Answers
import AppStore
import Assembly
package import Core
package import Crypto
import Evidence
package import Feed
package import HTTPServer
package import JSON
import Ledger
package import Service
import StoreAccess
import Synchronization
package import Telemetry
import Threading

/// The whole service without its socket: the router and the use cases over a ledger in a separate database.
package final class TestService: Sendable {
    package let database: ScratchDatabase
    package let clock: TestClock
    package let metrics = Metrics()
    package let router: Router
    /// The store's answers about receipts.
    package let store = ScriptedStore()
    /// The reasons that `/readyz` gives.
    package let obstacles = Obstacles()
    /// Lines written to the log.
    package let logged = LoggedLines()
    /// How long the database has been silent, as answers in memory see it.
    package let outage = Outage()
    private let parts: Parts
    private let machineClock: TestClock

    /// Creates a service over a new database with the project `default`, over another service's
    /// database, or over an existing one. `machineClock` replaces the machine's clock, which is
    /// otherwise `clock`. With roots, the service asks stores over the network and accepts anything
    /// signed under the roots. With `console`, the router also serves the console, over HTTPS if
    /// `speaksTLS` is true.
    package init(
        beside other: TestService? = nil, over found: ScratchDatabase? = nil,
        startingAt start: Instant? = nil, answerBytes: Int = 16 << 20,
        machineClock: TestClock? = nil, takesProduction: Bool = true,
        asking roots: [Certificate]? = nil, console speaksTLS: Bool? = nil,
        requiresSecondFactor: Bool = false
    ) throws {
        let database = try found ?? other?.database ?? ScratchDatabase()
        let clock = other?.clock ?? TestClock(at: start)
        self.machineClock = machineClock ?? clock
        var outside = Outside(
            verifier: roots.map { Verifier(extraRoots: $0) } ?? .minted,
            keys: { _ in SecretKeyBytes(7).keys }, store: roots == nil ? store : nil,
            log: logged.log, metrics: metrics, machineClock: (machineClock ?? clock).reading,
            monotonicClock: { [outage] in outage.time })
        outside.takesProduction = takesProduction
        let parts = Parts(
            database.ledgerSettings(clock: clock.reading), outside, answerBytes: answerBytes)
        let operations = Operations(
            obstacles: { [obstacles] in obstacles.all }, metrics: metrics, log: logged.log)
        self.parts = parts
        let pages = speaksTLS.map {
            parts.console(
                operations, speaksTLS: $0, requiresSecondFactor: requiresSecondFactor)
        }
        router = parts.router(operations, pages: pages)
        self.database = database
        self.clock = clock
        // Waits for the first look at the log, which drops all answers kept before it.
        _ = eventually(within: 60_000) { parts.answers.moment > 0 }
        if other == nil, found == nil { try createProject("default") }
    }

    package var useCases: UseCases { parts.live.useCases }
    package var ports: Ports { useCases.ports }
    package var ledger: any EventLog { useCases.ledger }
    package var intake: Intake { parts.live.intake }
    package var reads: CustomerReads { parts.reads }
    package var feed: Feed { parts.feed }
    package var keys: KeyRing { parts.keys }
    package var apps: AppRing { parts.submissions.apps }
    private var log: Ledger { parts.live.ledger }

    /// Looks at the database, as a service does before it reports ready.
    package func look() throws { _ = try log.look() }

    deinit { close() }

    package func close() {
        parts.feed.stop()
        log.close()
    }

    /// Returns the decrypted credentials with which an app of `default` authenticates to the store.
    package func credentials(of app: String) throws -> StoreCredentials {
        let key = AppKey(store: .apple, id: try AppID(app))
        return try parts.live.store.vault.credentials(
            of: StoreApp(project: try ProjectID("default"), key: key))
    }

    /// Projects all customers after a catalog change, like the service's job.
    package func projectAnew() throws {
        var faults: [Fault] = []
        _ = try log.reproject { faults.append($1) }
        if let fault = faults.first { throw fault }
    }

    /// Counts figures like the service's job, a few customers at a time. Calls `act` before the figures are stored.
    package func countFigures(
        asOf instant: Instant? = nil, beforeKeeping act: () throws -> Void = {}
    ) throws {
        var count = FigureCount(at: instant ?? clock.now, pageLimit: 7)
        while try log.count(&count) {}
        try act()
        try log.keep(count)
    }

    /// Reports refunds to the store, like the service's job.
    package func refundReports(
        _ intake: Intake? = nil, _ leases: (any Leases)? = nil
    ) -> RefundReports {
        RefundReports(intake ?? self.intake, log, leases ?? log)
    }

    package var leases: any Leases { log }

    /// Publishes due boundaries, like the service's job.
    @discardableResult
    package func publishBoundaries() throws -> Int {
        try log.publishBoundaries().notices
    }

    /// Reconciles a project. If a store asks for a pause, moves the machine's clock past it.
    package func reconcile(
        _ wish: ReconcileWish, over intake: Intake? = nil,
        progress: @escaping (ReconcileProgress) -> Void = { _ in }
    ) throws -> ReconciliationFinished {
        try (intake ?? self.intake).reconcile(
            wish, reconcilePort(wish), by: sender, progress: progress)
    }

    package func reconcilePort(_ wish: ReconcileWish) -> ReconcilePort {
        var port = ReconcilePort(wish, log)
        port.pause = { [machineClock] in machineClock.advance(byMilliseconds: $0) }
        return port
    }

    /// Creates a project. As most tests expect, its keys may usually add any app.
    package func createProject(_ project: String, allowsAnyApp: Bool = true) throws {
        try ledger.perform(useCases.projects.creating(ProjectID(project), by: sender))
        if allowsAnyApp { try allow(.any, in: project) }
    }

    /// Allows a project's keys to add an app or any app, as the operator can, or withdraws that permission.
    package func allow(
        _ allowance: AppAllowance, isTakenBack: Bool = false, in project: String = "default"
    ) throws {
        _ = try ledger.perform(
            useCases.apps.allowing(
                allowance, isTakenBack: isTakenBack, in: ProjectID(project), by: sender))
    }

    /// Creates a key of a project.
    package func key(
        _ role: Role, project: String = "default", name: String = "test", ending end: KeyEnd? = nil,
        only environment: Core.Environment? = nil
    ) throws -> NewKey {
        try ledger.perform(
            useCases.projects.creatingKey(
                role, name: name, ending: end, only: environment, of: ProjectID(project),
                by: sender))
    }

    /// Creates a key that replaces another one.
    package func rotate(_ key: NewKey, overlap: KeyOverlap? = nil) throws -> NewKey {
        let rotated = try ledger.perform(
            useCases.projects.rotatingKey(
                key.key, overlap: overlap, of: ProjectID("default"), by: sender))
        try keys.reload()
        return rotated.new
    }

    package func revoke(_ key: NewKey, project: String = "default") throws {
        _ = try ledger.perform(
            useCases.projects.revokingKey(key.key, of: ProjectID(project), by: sender))
        try keys.reload()
    }

    private var sender: Sender {
        get throws { Sender(actor: try Actor("test"), idempotencyKey: nil) }
    }

    /// Returns the number of events in all shards.
    package func eventCount() throws -> Int64 {
        try database.number("select count(*) from deed.events")
    }

    /// Returns the router's answer and compares it with the API's document. `target` is a path with
    /// or without a query.
    package func send(
        _ method: String, _ target: String, key: NewKey? = nil,
        headers: [(String, String)] = [], body: String = "", idempotencyKey: String? = nil
    ) -> Reply {
        let reply = sendUnchecked(
            method, target, key: key, headers: headers, body: body, idempotencyKey: idempotencyKey)
        ReceivedAnswer(
            method, target, status: reply.status,
            headers: reply.headers.map { (name: $0.name, value: $0.value) }, body: reply.text
        ).expectAsDocumented()
        return reply
    }

    /// Returns the router's answer without comparing it, for answers that the document does not describe.
    package func sendUnchecked(
        _ method: String, _ target: String, key: NewKey? = nil,
        headers: [(String, String)] = [], body: String = "", idempotencyKey: String? = nil,
        way: RequestWay? = nil
    ) -> Reply {
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let authorization = key.map { [("Authorization", "Bearer \($0.text)")] } ?? []
        let request = Request(
            method: method, path: String(parts[0]),
            query: parts.count > 1 ? String(parts[1]) : nil,
            headers: authorization + headers
                + (idempotencyKey.map { [("Idempotency-Key", $0)] } ?? []),
            body: Array(body.utf8), way: way)
        let (response, isImmediate) = router.response(to: request)
        return Reply(response, isImmediate: isImmediate)
    }

    /// The unreadable data that `deed status` reports: each stream by its customer, each row by its name.
    package var unread: [String] {
        log.unreadStreams.map { $0.subject.row ?? $0.subject.customer }
    }
}

extension Router {
    /// Returns the final answer, and whether it was immediate.
    package func response(
        to request: borrowing Request
    ) -> (response: Response, isImmediate: Bool) {
        switch answer(request) {
        case .now(let response): (response, true)
        case .underway(let begin): (awaited(begin), false)
        case .eventually(_, let work): (awaited(work), false)
        }
    }

    private func awaited(_ begin: (LateReply) -> Void) -> Response {
        let given = Monitor<Response??>(nil)
        begin(LateReply { response in given.change { $0 = .some(response) } })
        return given.wait { $0 } ?? Response(status: 0)
    }
}

extension Answer {
    /// Returns an answer that a worker gives later.
    package static func later(
        in room: Room = .known, _ response: @escaping @Sendable () -> Response
    ) -> Answer {
        .eventually(in: room) { $0(response()) }
    }
}

/// An answer of the router.
package struct Reply: Sendable {
    package let status: Int
    package let headers: [Header]
    package let text: String
    /// Whether the answer came from memory, on the connection's own thread.
    package let isImmediate: Bool

    init(_ response: Response, isImmediate: Bool) {
        self.isImmediate = isImmediate
        status = response.status
        headers = response.headers
        text = String(decoding: response.body, as: UTF8.self)
    }

    package func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }

    package var json: JSON { get throws { try JSON.read(text) } }
}

/// A clock that stands still until a test moves it. It starts at 2026-11-20T19:21:00Z.
package final class TestClock: Sendable {
    private let instant = Mutex(Instant(milliseconds: 1_795_202_460_000))

    package init(at start: Instant? = nil) {
        if let start { instant.withLock { $0 = start } }
    }

    package var now: Instant { instant.withLock { $0 } }

    package var reading: @Sendable () -> Instant { { self.now } }

    package func advance(byMilliseconds amount: Int64) {
        instant.withLock { $0 = $0.advanced(byMilliseconds: amount) }
    }
}

/// Determines how long the database seems unreachable to answers in memory.
package final class Outage: Sendable {
    private let passed = Atomic<Int64>(0)
    /// When the outage's clock was stopped.
    private let stoppedAt = Atomic<Int64>(.max)

    package var time: Int64 {
        min(monotonicMilliseconds(), stoppedAt.load(ordering: .relaxed))
            + passed.load(ordering: .relaxed)
    }

    /// Stops time except for calls of `advance`, so that answers do not age on a busy machine.
    package func stopClock() { stoppedAt.store(monotonicMilliseconds(), ordering: .relaxed) }

    package func advance(byMilliseconds amount: Int64) { passed.add(amount, ordering: .relaxed) }
}

/// A log whose lines a test can read.
package final class LoggedLines: Sendable {
    private let lines = Mutex<[String]>([])

    package init() {}

    package var all: [String] { lines.withLock { $0 } }

    package var log: Log { Log { [self] line in lines.withLock { $0.append(line) } } }
}

package final class Obstacles: Sendable {
    private let state = Mutex<[Obstacle]>([])

    package var all: [Obstacle] { state.withLock { $0 } }

    package func set(_ obstacles: [Obstacle]) { state.withLock { $0 = obstacles } }
}
