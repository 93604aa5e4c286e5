import API
import Core
import HTTPServer
import JSON
import Service
import Synchronization
import Telemetry
import TestSupport
import Testing
import Threading

/// A second store, which Deed knows only by its adapter and its client. The store signs nothing:
/// back ends submit tokens, and the store says what each token means.
private final class TokenStore: StoreProfile, EvidenceProver, StoreClient {
    private static let token = EvidenceKind(.google, "token", by: .word)
    private static let answer = EvidenceKind(.google, "token_answer", by: .connection)

    let store = Store.google
    let kinds = [token, answer]
    let handIns = [HandIn("tokens", token, isList: true)]
    let steps: Set<ReconcileStep> = [.subscriptions]
    let credentials = [
        CredentialMember("account", .key, help: ("NAME", "the account")),
        CredentialMember("account_key", .key, isSecret: true, help: ("FILE", "its key")),
    ]
    let appFlag = (name: "package", help: "the app's package name")
    let console = "the console"
    let addressCure = "Enter an address."
    let probes: [StoreProbe] = []

    private let digest: @Sendable ([UInt8]) -> [UInt8]
    private let clock: TestClock
    private let product: ProductID
    private let calls = Mutex<[StoreCall]>([])
    /// When the purchases end.
    let end: Mutex<Instant>

    init(_ service: TestService) throws {
        product = try ProductID("pro")
        digest = service.ports.secrets.digest
        clock = service.clock
        end = Mutex(service.clock.now.advanced(byMilliseconds: 3_600_000))
    }

    var asked: [StoreCall] { calls.withLock { $0 } }

    func historyPause(in environment: Environment) -> Int64 { 0 }
    func newsReach(in environment: Environment) -> Int64 { 0 }
    func proper(_ credentials: StoreCredentials) -> StoreCredentials { credentials }

    func prove(
        _ raw: RawEvidence, for apps: [TrustedApp], now: Instant
    ) throws(RefusedEvidence) -> ProvenEvidence {
        throw RefusedEvidence(code: "unsigned", sentence: "Nothing signs a token.")
    }

    func read(
        vouchedFor raw: RawEvidence, for apps: [TrustedApp], now: Instant
    ) throws(RefusedEvidence) -> ProvenEvidence {
        try prove(raw, for: apps, now: now)
    }

    func bare(_ raw: RawEvidence) -> RawEvidence { raw }

    /// Reads a token, which is the app's name, a slash and a word.
    func heading(of raw: RawEvidence) throws(RefusedEvidence) -> EvidenceHeading {
        let parts = String(decoding: raw.bytes, as: UTF8.self).split(separator: "/")
        guard parts.count == 2, let app = try? AppID(String(parts[0])) else {
            throw RefusedEvidence(code: "unrecognized", sentence: "It is no token.")
        }
        return EvidenceHeading(
            digest: digest(raw.bytes), kind: raw.kind.word, environment: .production, app: app)
    }

    func standing(ofSigner raw: RawEvidence) -> SignerStanding { .missing }

    /// Answers from a separate thread. For a token that begins with "slow", the answer comes too late.
    func judging(
        _ inquiry: StoreInquiry, within milliseconds: Int64?
    ) -> Course<StoreVerdict> {
        let word = String(decoding: inquiry.evidence.bytes, as: UTF8.self).split(separator: "/")[1]
        return .wait { [self] resume in
            startThread("second store") { [self] in
                if word.hasPrefix("slow"), milliseconds != nil {
                    return resume(.ended(.tryAgain(.silent)))
                }
                guard let id = try? TransactionID(String(word)) else {
                    return resume(.ended(.refused(.unknown)))
                }
                resume(.ended(.believed([proven(id, of: inquiry.app.key.id)])))
            }
        }
    }

    func foreign(_ app: AppID) -> RefusedEvidence {
        RefusedEvidence(code: "foreign_app", sentence: "It is of \(app).")
    }

    func ask(
        _ call: StoreCall, about app: StoreApp, in environment: Environment?
    ) throws(StoreTrouble) -> StoreAnswer {
        calls.withLock { $0.append(call) }
        guard case .standings(let id) = call else { throw .unreadable("the test asks too much") }
        var answer = StoreAnswer(environment: .production)
        answer.vouched = [proven(id, of: app.key.id)]
        return answer
    }

    private func proven(_ id: TransactionID, of app: AppID) -> ProvenEvidence {
        let (now, end) = (clock.now, end.withLock { $0 })
        var fact = TransactionFact(
            store: .google, environment: .production, app: app, transaction: id, original: id,
            product: product, purchased: end.advanced(byMilliseconds: -3_600_000), signedAt: now,
            rank: .serverAPI)
        fact.kind = .autoRenewable
        fact.expires = end
        var facts = Facts()
        facts.transactions = [fact]
        let bytes = Array("\(id) until \(end.text)".utf8)
        return ProvenEvidence(
            kind: Self.answer, environment: .production, app: app, facts: facts,
            record: EvidenceRecord(
                digest: digest(bytes), kind: Self.answer.word, app: app, signedAt: now,
                content: bytes, certificates: []))
    }
}

@Suite("A second store, which signs nothing", .timeLimit(.minutes(20)))
struct SecondStoreTests {
    private let service: TestService
    private let store: TokenStore
    private let intake: Intake
    private let router: Router
    private let admin: NewKey
    private let app: AppKey

    init() throws {
        service = try TestService()
        store = try TokenStore(service)
        var intake = service.intake
        intake.stores[.google] = StoreAdapter(store, prover: store, client: store)
        let app = AppKey(store: .google, id: try AppID("com.example.game"))
        let status = CredentialsStatus(hasKey: true, hasSharedSecret: false, address: nil)
        intake.credentials = TappedCredentials(
            intake.credentials, statuses: [app: status])
        self.app = app
        self.intake = intake
        router = Router(
            service.useCases, service.reads, Submissions(intake, apps: service.apps),
            feed: service.feed, keys: service.keys,
            operations: Operations(obstacles: { [] }, metrics: Metrics()))
        admin = try service.key(.admin)
        // Both stores have an app with this name.
        for path in ["", "?store=google"] {
            #expect(try call("PUT", "/v1/apps/com.example.game\(path)", [:]).status == 200)
        }
    }

    private func call(
        _ method: String, _ target: String, _ body: JSON
    ) throws -> (status: Int, json: JSON) {
        let parts = target.split(separator: "?").map(String.init)
        let request = Request(
            method: method, path: parts[0], query: parts.count > 1 ? parts[1] : nil,
            headers: [("Authorization", "Bearer \(admin.text)")], body: body.bytes)
        let response = router.response(to: request).response
        return (response.status, try JSON.read(Array(response.body)))
    }

    private func hand(in token: String) throws -> (status: Int, json: JSON) {
        let backend = try service.key(.backend)
        let body: JSON = ["tokens": [.string(token)]]
        let request = Request(
            method: "POST", path: "/v1/customers/u1/receipts", query: nil,
            headers: [("Authorization", "Bearer \(backend.text)")], body: body.bytes)
        let response = router.response(to: request).response
        return (response.status, try JSON.read(Array(response.body)))
    }

    /// Submits a token. The store judges it while the call waits.
    private func buy() throws {
        let answer = try hand(in: "com.example.game/t1")
        #expect(answer.status == 200)
        #expect(answer.json["items"]?.array?.first?["outcome"] == "recorded")
    }

    private func purchases() throws -> [Purchase] {
        let stream = Core.Stream(
            project: try ProjectID("default"), environment: .production,
            customer: try CustomerID("u1"))
        return try service.ports.ledger.customer(of: stream).customer.purchases
    }

    @Test("Evidence counts once the store has confirmed it")
    func token() throws {
        try buy()
        let purchases = try purchases()
        #expect(purchases.map(\.id.description) == ["google:t1"])
        #expect(purchases.first?.newest?.expires == store.end.withLock { $0 })
        #expect(try service.database.number("select count(*) from deed.evidence") == 1)
    }

    @Test("What the store does not tell in time waits in the queue, with the reason")
    func late() throws {
        let answer = try hand(in: "com.example.game/slow1")
        #expect(answer.status == 202)
        let item = try #require(answer.json["items"]?.array?.first)
        #expect(item["outcome"] == "queued")
        let id = try IntakeID(try #require(item["intake"]?.string))
        let waiting = try intake.item(id, of: ProjectID("default"))
        #expect(waiting.reason == .silent && waiting.tries == 0)
        service.clock.advance(byMilliseconds: 6000)
        let work = try IntakeWorker(Submissions(intake, apps: service.apps)).work()
        #expect(work?.item.state.word == .believed)
        #expect(try purchases().map(\.id.description) == ["google:slow1"])
    }

    @Test("Evidence of an app of another project is refused before any store is asked")
    func foreign() throws {
        let answer = try hand(in: "com.example.other/t1")
        #expect(answer.json["items"]?.array?.first?["code"] == "foreign_app")
        let unknown = try hand(in: "com.example.game/\u{1}")
        #expect(unknown.json["items"]?.array?.first?["code"] == "token_unknown")
    }

    @Test("An overdue subscription is asked about, and the unsigned answer counts")
    func renewal() throws {
        try buy()
        let later = store.end.withLock { $0.advanced(byMilliseconds: 600_000) }
        service.clock.advance(byMilliseconds: later.milliseconds - service.clock.now.milliseconds)
        let renewed = later.advanced(byMilliseconds: 3_000_000)
        store.end.withLock { $0 = renewed }
        var wish = ReconcileWish(project: try ProjectID("default"))
        wish.plan.steps = [.notifications, .history, .subscriptions]
        let finished = try service.reconcile(wish, over: intake)
        #expect(finished.isSound, "\(finished.errors)")
        #expect(finished.steps[.subscriptions]?.mended == 1)
        // The store offers only the status of a subscription.
        #expect(try store.asked == [.standings(of: TransactionID("t1"))])
        #expect(try purchases().first?.newest?.expires == renewed)
    }

    @Test("An app and its credentials are set by the names that its store uses")
    func settings() throws {
        let path = "/v1/apps/com.example.game"
        let apps = try call("GET", "/v1/settings", [:]).json["apps"]?.array
        #expect(apps?.map { $0["store"] } == ["apple", "google"])
        let part = try call(
            "PUT", "\(path)?store=google", ["credentials": ["account": "a"]])
        #expect(part.status == 400)
        #expect(part.json["detail"]?.string?.contains(#""account", "account_key" belong"#) == true)
        let foreign = try call("PUT", path, ["credentials": ["account": "a"]])
        #expect(foreign.json["code"] == "unknown_member")
        #expect(try call("PUT", "\(path)?store=amazon", [:]).json["member"] == "store")
        #expect(try call("DELETE", "\(path)?store=google", [:]).status == 200)
        #expect(try call("GET", "/v1/settings", [:]).json["apps"]?.array?.count == 1)
    }
}

extension IntakeReason {
    fileprivate static let silent = IntakeReason(
        code: "store_unavailable", sentence: "It is silent.")
}

extension RefusedEvidence {
    fileprivate static let unknown = RefusedEvidence(
        code: "token_unknown", sentence: "It is not known.")
}
