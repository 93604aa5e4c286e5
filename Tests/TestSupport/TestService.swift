package import API
package import Core
import Crypto
import Evidence
package import HTTPServer
package import JSON
import Ledger
import Minting
package import Service
import Synchronization
package import Telemetry
import Threading

/// The whole service but its socket: router and use cases over a ledger in a database of its own.
package final class TestService: Sendable {
    package let database: ScratchDatabase
    package let clock: TestClock
    package let metrics = Metrics()
    package let ports: Ports
    package let reads: CustomerReads
    package let router: Router
    package let keys: KeyRing
    package let apps: AppRing
    /// What the store says of receipts.
    package let store = ScriptedStore()
    /// What `/readyz` gives as reasons.
    package let obstacles = Obstacles()
    /// The lines that went to the log.
    package let logged = LoggedLines()
    /// What the answers in memory believe to have passed since the database was last heard of.
    package let outage = Outage()
    private let ledger: Ledger

    /// Over a database of its own with the project `default`, or beside another service on the same.
    /// `machineClock` is the machine's where `clock` is not.
    package init(
        beside other: TestService? = nil, answerBytes: Int = 16 << 20,
        machineClock: TestClock? = nil
    ) throws {
        let database = try other?.database ?? ScratchDatabase()
        let clock = other?.clock ?? TestClock()
        let now: @Sendable () -> Instant = { clock.now }
        let answers = AnswerCache(
            bytes: answerBytes, now: now,
            monotonicClock: { [outage] in monotonicMilliseconds() + outage.milliseconds },
            render: { $0.ready })
        let ledger = database.ledger(
            clock: now, metrics: metrics, follower: Follower(answers))
        ports = Ports(
            ledger: LedgerPort(
                append: { command throws(CommandError) in try ledger.append(command) },
                submit: { ledger.submit($0, respond: $1) },
                announce: { ledger.announce($0) },
                customer: { stream throws(Fault) in try ledger.customer(of: stream) },
                read: { ledger.read($0, respond: $1) },
                project: { project throws(Fault) in try ledger.project(project) },
                customers: { project, stream, limit throws(Fault) in
                    try ledger.customers(of: project, after: stream, limit: limit)
                },
                events: { stream, version, limit throws(Fault) in
                    try ledger.events(of: stream, after: version, limit: limit)
                },
                projects: { () throws(Fault) in try ledger.projects() }),
            directory: DirectoryPort(
                apps: { () throws(Fault) in try ledger.apps() },
                keys: { () throws(Fault) in try ledger.liveKeys() },
                owner: { order, project, environment throws(Fault) in
                    try ledger.owner(of: order, in: project, environment)
                },
                unclaimed: { project, environment, purchase, limit throws(Fault) in
                    try ledger.unclaimed(of: project, environment, after: purchase, limit: limit)
                }),
            evidence: EvidencePort(minted: metrics, ledger),
            reading: ReadingPort(
                heads: { () throws(Fault) in try ledger.heads() },
                customers: { streams throws(Fault) in try ledger.customers(streams) }),
            intake: IntakePort(ledger), store: store.port,
            secrets: SecretsPort(
                randomBytes: { randomBytes($0) }, digest: { SHA256.digest($0).bytes },
                hexDigest: { SHA256.digest($0).hex }),
            now: now, machineClock: machineClock?.reading)
        keys = KeyRing(ports)
        apps = AppRing(ports)
        reads = CustomerReads(ports, cache: answers)
        reads.publish(to: metrics)
        let unknown = UnknownProducts(metrics, log: logged.log, clock: now)
        router = Router(
            reads, Submissions(ports, apps: apps) { unknown.notice($1, of: $0) }, keys: keys,
            operations: Operations(
                obstacles: { [obstacles] in obstacles.sentences }, metrics: metrics))
        self.database = database
        self.clock = clock
        self.ledger = ledger
        if other == nil { try createProject("default") }
    }

    deinit { ledger.close() }

    /// Does what the service's own job does after a change of a catalog.
    package func projectAnew() throws {
        var faults: [Fault] = []
        _ = try ledger.reproject { faults.append($1) }
        if let fault = faults.first { throw fault }
    }

    package func createProject(_ project: String) throws {
        try ports.createProject(ProjectID(project), by: sender)
    }

    /// A new key to a project.
    package func key(_ role: Role, project: String = "default") throws -> NewKey {
        try ports.createKey(role, name: "test", of: ProjectID(project), by: sender)
    }

    package func revoke(_ key: NewKey, project: String = "default") throws {
        _ = try ports.revokeKey(key.key, of: ProjectID(project), by: sender)
        try keys.reload()
    }

    private var sender: Sender {
        get throws { Sender(actor: try Actor("test"), idempotencyKey: nil) }
    }

    /// Every event of every shard.
    package func eventCount() throws -> Int64 {
        try database.number("select count(*) from deed.events")
    }

    /// What the router answers, held against the API's document; `target` is a path with or without a
    /// query.
    package func send(
        _ method: String, _ target: String, key: NewKey? = nil,
        headers: [(String, String)] = [], body: String = ""
    ) -> Reply {
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let authorization = key.map { [("Authorization", "Bearer \($0.text)")] } ?? []
        let request = Request(
            method: method, path: String(parts[0]),
            query: parts.count > 1 ? String(parts[1]) : nil, headers: authorization + headers,
            body: Array(body.utf8))
        let (response, isImmediate) = response(to: request)
        let reply = Reply(response, isImmediate: isImmediate)
        ReceivedAnswer(
            method, target, status: reply.status,
            headers: reply.headers.map { (name: $0.name, value: $0.value) }, body: reply.text
        ).expectAsDocumented()
        return reply
    }

    private func awaited(_ begin: (HTTPServer.Reply) -> Void) -> Response {
        let given = Monitor<Response??>(nil)
        begin(HTTPServer.Reply { response in given.change { $0 = .some(response) } })
        return given.wait { $0 } ?? Response(status: 0)
    }

    private func response(to request: borrowing Request) -> (Response, isImmediate: Bool) {
        switch router.answer(request) {
        case .now(let response): return (response, true)
        case .later(_, let work): return (work(), false)
        case .underway(let begin): return (awaited(begin), false)
        case .eventually(_, let work): return (awaited(work), false)
        }
    }
}

extension Follower {
    init(_ answers: AnswerCache) {
        self.init(
            applied: { answers.applied }, epoch: { answers.epoch },
            committed: { answers.follow($0, epoch: $1) },
            followed: { answers.follow($0, askedAt: $1, isComplete: $2, epoch: $3) },
            forget: { answers.forget() })
    }
}

/// An answer of the router.
package struct Reply: Sendable {
    package let status: Int
    package let headers: [Header]
    package let text: String
    /// Whether it came from memory, on the thread that serves the connection.
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

/// A clock that stands until a test moves it: first at 2026-11-20T19:21:00Z.
package final class TestClock: Sendable {
    private let instant = Mutex(Instant(milliseconds: 1_795_202_460_000))

    package init() {}

    package var now: Instant { instant.withLock { $0 } }

    package var reading: @Sendable () -> Instant { { self.now } }

    package func advance(byMilliseconds amount: Int64) {
        instant.withLock { $0 = $0.advanced(byMilliseconds: amount) }
    }
}

/// Time that passes for the answers in memory only.
package final class Outage: Sendable {
    private let passed = Atomic<Int64>(0)

    package var milliseconds: Int64 { passed.load(ordering: .relaxed) }

    package func advance(byMilliseconds amount: Int64) { passed.add(amount, ordering: .relaxed) }
}

/// A log whose lines a test can read.
package final class LoggedLines: Sendable {
    private let lines = Mutex<[String]>([])

    package var all: [String] { lines.withLock { $0 } }

    package var log: Log { Log { [self] line in lines.withLock { $0.append(line) } } }
}

package final class Obstacles: Sendable {
    private let state = Mutex<[String]>([])

    package var sentences: [String] { state.withLock { $0 } }

    package func set(_ sentences: [String]) { state.withLock { $0 = sentences } }
}
