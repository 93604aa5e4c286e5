import Core
import Evidence
import HTTPServer
import JSON
import Outbound
import Practice
import StoreAccess
import Synchronization
import Telemetry
import TestSupport
import Threading

@testable import PlayStore

/// The keys that all tests of a run share, because creating keys takes time.
let account = ServiceAccount()
let authority = Authority()
let opening = Instant(milliseconds: 1_706_695_200_000)

/// A practice store that sells in Google Play, on a free port.
final class ServedPlay: Sendable {
    let store: PracticeStore
    private let server: PracticeServer

    init() throws {
        store = PracticeStore(
            PracticeWorld(.example, from: opening, seed: 3), authority: authority,
            account: account,
            port: PracticePort(now: machineInstant, send: { _, _ in "SUCCESS" }))
        server = try PracticeServer(store, listen: "127.0.0.1:0", now: machineInstant)
    }

    deinit { server.stop() }

    var url: String { "http://127.0.0.1:\(server.port)" }

    func take(
        _ act: Step.Act, _ product: String? = nil, _ change: (inout Step) -> Void = { _ in }
    ) throws -> String {
        var step = Step(act, customer: "u1", product: product)
        step.store = .google
        change(&step)
        return try store.performInPlay(step).token ?? ""
    }
}

/// A store that answers as the test says, and counts its requests.
final class CannedPlay: Sendable {
    typealias Reply = @Sendable (_ path: String, _ authorization: String, _ count: Int) -> Response
    private let server: Server
    private let counts: Counts

    private final class Counts: Sendable {
        let all = Mutex<[String: Int]>([:])
    }

    init(workers: Int = 8, _ reply: @escaping Reply) throws {
        let counts = Counts()
        self.counts = counts
        var settings = ServerSettings()
        settings.listen = "127.0.0.1:0"
        settings.workers = workers
        server = try Server(
            settings, metrics: Metrics(), bodyLimit: { _, _ in 1 << 20 },
            refusal: { _, _ in Response(status: 503) },
            handler: { request in
                let path = request.path
                let authorization = ((try? request.header("Authorization")) ?? nil) ?? ""
                let count = counts.all.withLock { all in
                    all[path, default: 0] += 1
                    return all[path] ?? 0
                }
                return .eventually { $0(reply(path, authorization, count)) }
            })
    }

    deinit { server.drain(milliseconds: 500) }

    var url: String { "http://127.0.0.1:\(server.port)" }

    /// Returns how often that path was requested. Without a path, counts all requests.
    func count(_ path: String? = nil) -> Int {
        counts.all.withLock { all in path.map { all[$0] ?? 0 } ?? all.values.reduce(0, +) }
    }
}

/// The client with a test's settings.
final class PlayAsking: Sendable {
    let client: PlayStoreClient
    let app: StoreApp
    private let line: Line

    init(
        _ url: String, package: String = "com.example.game", file: String? = nil,
        roots: @escaping PlayStoreClient.Roots = { _, _ in nil }
    ) throws {
        var credentials = StoreCredentials([
            ServiceAccountKey.member: file ?? account.json(at: url).text
        ])
        credentials.address = StoreAddress(url)
        app = StoreApp(
            project: try ProjectID("default"), key: AppKey(store: .google, id: try AppID(package)))
        line = Line(credentials, try Courier())
        client = PlayStoreClient(
            line, Prover(PlayEvidence(), metrics: Metrics()),
            patience: StorePatience(firstByte: 60_000, whole: 90_000), roots: roots)
    }

    func subscription(
        _ token: String
    ) throws(StoreTrouble) -> PlayReading<PlaySubscriptionStatement> {
        try client.subscription(token, of: app, PlayTime(client.patience)).awaited().get()
    }

    func purchase(
        _ token: String, of product: ProductID? = nil
    ) throws(StoreTrouble) -> PlayReading<PlayPurchaseStatement> {
        let time = PlayTime(client.patience)
        guard let product else {
            return try client.purchase(token, of: app, time).awaited().get()
        }
        return try client.purchase(token, of: product, in: app, time).awaited().get()
    }

    /// Returns the client's judgement of a token that a back end submitted.
    func judge(
        _ token: String, product: String? = nil, within milliseconds: Int64? = nil
    ) throws -> Judgement<[ProvenEvidence], Postponement> {
        let json: JSON = ["package": .string(app.key.id.text), "token": .string(token)]
        let inquiry = StoreInquiry(
            evidence: RawEvidence(.playToken, json.with("product", product.map(JSON.string)).bytes),
            project: app.project, app: App(app.key), environment: .production, tries: 1,
            formerReason: nil, now: machineInstant())
        return client.judging(inquiry, within: milliseconds).awaited()
    }

    /// Moves the clock that the client sees.
    func advance(seconds: Int64) { line.ahead.withLock { $0 += seconds * 1000 } }

    /// The budgets that the calls used.
    var budgets: Set<StoreBudget> { line.budgets.withLock { $0 } }

    private final class Line: StoreLine {
        let ahead = Mutex<Int64>(0)
        let budgets = Mutex<Set<StoreBudget>>([])
        private let credentials: StoreCredentials
        private let courier: Courier

        init(_ credentials: StoreCredentials, _ courier: Courier) {
            self.credentials = credentials
            self.courier = courier
        }

        func credentials(of app: StoreApp) -> StoreCredentials { credentials }

        func take(_ turn: StoreTurn, now: Instant) -> Instant? {
            _ = budgets.withLock { $0.insert(turn.budget) }
            return nil
        }

        func rest(_ turn: StoreTurn, until: Instant) {}

        func send(
            _ request: OutboundRequest, respond: @escaping @Sendable (Courier.Answer) -> Void
        ) {
            courier.send(request, respond: respond)
        }

        func machineClock() -> Instant {
            machineInstant().advanced(byMilliseconds: ahead.withLock { $0 })
        }

        func pause(milliseconds: Int64) {}
    }
}

/// Returns an answer in JSON.
func reply(_ json: JSON, _ status: Int = 200) -> Response {
    Response(
        status: status, headers: [Header("Content-Type", "application/json")], body: json.bytes)
}

let granted: JSON = ["access_token": "ya29.one", "expires_in": 3599, "token_type": "Bearer"]
let active: JSON = ["subscriptionState": "SUBSCRIPTION_STATE_ACTIVE"]

/// Returns an error in Google's format.
func refusal(_ code: Int, _ reason: String = "x") -> Response {
    let detail: JSON = ["message": "no", "domain": "global", "reason": .string(reason)]
    return reply(
        ["error": ["code": .integer(Int64(code)), "message": "no", "errors": .array([detail])]],
        code)
}
