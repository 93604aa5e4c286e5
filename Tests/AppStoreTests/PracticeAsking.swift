import AppStore
import Core
import Crypto
import Evidence
import HTTPServer
import JSON
import Minting
import Outbound
import Practice
import Service
import StoreAccess
import Synchronization
import Telemetry
import TestSupport
import Threading

/// The roots that all tests of a run share, because making keys takes time.
let practice = Authority()
let opening = Instant(milliseconds: 1_706_695_200_000)

/// A practice store on a free port.
final class ServedPractice: Sendable {
    let store: PracticeStore
    private let server: PracticeServer

    init(_ authority: Authority = practice, _ change: (inout Shop) -> Void = { _ in }) throws {
        var shop = Shop.example
        change(&shop)
        store = PracticeStore(
            PracticeWorld(shop, from: opening, seed: 21), authority: authority,
            port: PracticePort(now: machineInstant, send: { _, _ in "SUCCESS" }))
        server = try PracticeServer(store, listen: "127.0.0.1:0", now: machineInstant)
    }

    deinit { server.stop() }

    var url: String { "http://127.0.0.1:\(server.port)" }

    func buy(_ product: String, _ customer: String = "u1") throws -> HandOver {
        try store.perform(Step(.buy, customer: customer, product: product))
    }

    func suffer(_ text: String) throws {
        let trouble = try Trouble(Array(text.utf8))
        try store.change { $0.make(trouble) }
    }
}

/// A store that answers all requests in the same way, and counts them.
final class CannedStore: Sendable {
    private let server: Server
    init(_ answer: @escaping @Sendable (_ count: Int, _ path: String) -> Response) throws {
        let counter = Counter()
        self.counter = counter
        var settings = ServerSettings()
        settings.listen = "127.0.0.1:0"
        server = try Server(
            settings, metrics: Metrics(), bodyLimit: { _, _ in 8 << 20 },
            refusal: { _, _ in Response(status: 503) },
            handler: { request in .now(answer(counter.next(), request.path)) })
    }

    private let counter: Counter
    final class Counter: Sendable {
        private let count = Mutex(0)

        func next() -> Int {
            count.withLock { count in
                count += 1
                return count
            }
        }

        var value: Int { count.withLock { $0 } }
    }

    deinit { server.drain(milliseconds: 500) }

    var url: String { "http://127.0.0.1:\(server.port)" }
    var count: Int { counter.value }
}

/// The client with a test's credentials and hosts, and with an unlimited budget.
final class Asking: Sendable {
    let app: StoreApp
    let courier: Courier
    let client: AppStoreClient
    let prover: Prover

    init(
        hosts: StoreHosts, key: MintedKey = practice.apiKey, secret: String? = nil,
        bundle: String = Shop.example.app.bundleID,
        patience: StorePatience = StorePatience(firstByte: 15_000, whole: 20_000)
    ) throws {
        let app = StoreApp(
            project: try ProjectID("default"), key: AppKey(store: .apple, id: try AppID(bundle)))
        self.app = app
        let courier = try Courier()
        self.courier = courier
        let roots = [practice.receipts.root, practice.transactions.root]
        prover = Prover(
            Verifier(extraRoots: try roots.map { try Certificate(der: $0.der) }),
            metrics: Metrics())
        var credentials = StoreCredentials(practice.key(pem: key.pem))
        credentials.secrets["shared_secret"] = secret
        client = AppStoreClient(
            AskingLine(credentials: credentials, courier: courier), prover, hosts: hosts,
            patience: patience)
    }

    convenience init(
        _ url: String, secret: String? = nil,
        patience: StorePatience = StorePatience(firstByte: 15_000, whole: 20_000)
    ) throws {
        try self.init(
            hosts: StoreHosts(
                api: [.sandbox: url], receipts: [.sandbox: "\(url)/verifyReceipt"],
                order: [.sandbox]),
            secret: secret, patience: patience)
    }

    deinit { courier.close() }

    func ask(_ call: StoreCall, in environment: Environment? = nil) throws(StoreTrouble)
        -> StoreAnswer
    {
        try client.ask(call, about: app, in: environment)
    }

    /// Returns why a call fails, or `nil` if it does not.
    func trouble(_ call: StoreCall) -> StoreTrouble? {
        do throws(StoreTrouble) {
            _ = try ask(call)
            return nil
        } catch {
            return error
        }
    }
}

extension Authority {
    /// Returns the credentials with which an app authenticates to the store.
    func key(pem: String? = nil) -> [String: String] {
        ["issuer_id": issuer, "key_id": keyID, "key": pem ?? apiKey.pem]
    }
}

/// A connection to the network without limits, except for the pauses that the store requests.
private final class AskingLine: StoreLine {
    private let credentials: StoreCredentials
    private let courier: Courier
    private let ends = Mutex<[StoreTurn: Instant]>([:])

    init(credentials: StoreCredentials, courier: Courier) {
        self.credentials = credentials
        self.courier = courier
    }

    func credentials(of app: StoreApp) -> StoreCredentials { credentials }

    func take(_ turn: StoreTurn, now: Instant) -> Instant? {
        ends.withLock { $0[turn] }.flatMap { $0 > now ? $0 : nil }
    }

    func rest(_ turn: StoreTurn, until: Instant) { ends.withLock { $0[turn] = until } }

    func send(
        _ request: OutboundRequest, respond: @escaping @Sendable (Courier.Answer) -> Void
    ) {
        courier.send(request, respond: respond)
    }

    func machineClock() -> Instant { machineInstant() }

    func pause(milliseconds: Int64) {}
}
