import Core
import Crypto
import Foundation
import JSON
import Minting
import Outbound
import Practice
import Service
import Synchronization
import TestSupport
import Testing
import Threading

/// Expects Deed's answers to match the store's records.
func expectTruth(_ night: PracticeNight, _ when: String = "") throws {
    let complaints = try night.complaints()
    #expect(complaints.isEmpty, "\(when) \(complaints)")
}

/// Deed and a practice store in one process. The store sells to customers and loses notifications,
/// and Deed asks it afterwards over the network. The store's records are the truth.
final class PracticeNight: Sendable {
    static let app = Shop.example.app.bundleID
    let service: TestService
    let store: PracticeStore
    private let server: PracticeServer
    private let admin: NewKey
    private let backend: NewKey
    private let lives: [PracticeLife]
    /// The machine's clock, which the store uses when it requests a pause.
    let machine = TestClock()
    private let posted: Posted

    /// The notifications posted since the last delivery.
    private final class Posted: Sendable {
        let bodies = Mutex<[[UInt8]]>([])
        let isCutOff = Atomic(false)

        func take() -> [[UInt8]] {
            bodies.withLock { bodies in
                defer { bodies = [] }
                return bodies
            }
        }
    }

    /// Creates `count` random lives and, if wanted, lives that end in each state.
    init(
        lives count: Int, days: Int = PracticeLife.days, ofEachState: Bool = false,
        _ random: inout some RandomNumberGenerator, change: (inout Shop) -> Void = { _ in }
    ) throws {
        let roots = try [practice.receipts.root, practice.transactions.root].map {
            try Certificate(der: $0.der)
        }
        service = try TestService(machineClock: machine, asking: roots)
        var shop = Shop.example
        shop.app.notificationURL = "http://127.0.0.1:1/notifications"
        shop.products.append(PracticeNight.extras)
        change(&shop)
        let posted = Posted()
        self.posted = posted
        store = PracticeStore(
            PracticeWorld(shop, from: service.clock.now, seed: random.next()),
            authority: practice,
            port: PracticePort(
                now: machine.reading,
                send: { _, body in
                    if posted.isCutOff.load(ordering: .relaxed) { return "NO_RESPONSE" }
                    posted.bodies.withLock { $0.append(body) }
                    return "SUCCESS"
                }))
        server = try PracticeServer(store, listen: "127.0.0.1:0", now: machine.reading)
        (admin, backend) = (try service.key(.admin), try service.key(.backend))
        lives =
            (0..<count).map { PracticeLife($0, days: days, &random) }
            + (ofEachState ? PracticeLife.ofEachState(from: count) : [])
        try setUp()
    }

    deinit { server.stop() }

    /// A subscription in a separate group, besides the others.
    private static var extras: Article {
        var article = Article(id: "extras.month", kind: .autoRenewable, price: 990)
        (article.group, article.level, article.period) = ("extras", 1, Wait("P1M"))
        return article
    }

    private struct Unexpected: Error {
        let reply: String
    }

    @discardableResult
    func call(_ method: String, _ path: String, _ body: JSON = .null) throws -> JSON {
        let reply = service.send(
            method, path, key: admin, body: body.isNull ? "" : body.text)
        guard (200..<300).contains(reply.status) else {
            throw Unexpected(reply: "\(path): \(reply.text)")
        }
        return reply.text.isEmpty ? .null : try reply.json
    }

    private func setUp() throws {
        try call("PUT", "/v1/catalog", PracticeLife.catalog)
        try call(
            "PUT", "/v1/apps/\(PracticeNight.app)", ["apple_id": 1_234_567_890])
        var change = CredentialsChange()
        change.secrets = practice.key()
        change.address = StoreAddress("http://127.0.0.1:\(server.port)")
        _ = try service.ledger.perform(
            service.useCases.apps.setting(
                AppKey(store: .apple, id: AppID(PracticeNight.app)), AppChange(), change,
                of: ProjectID("default"), as: .operator,
                by: Sender(actor: Actor("test"), idempotencyKey: nil)))
        for life in lives {
            try call(
                "PUT", "/v1/customers/\(life.customer)/account_token",
                ["token": .string(life.token), "environment": "sandbox"])
        }
        try store.change { world throws(PracticeError) in
            _ = try world.plan(PracticeLife.scenario(self.lives))
        }
        try service.publishBoundaries()
    }

    /// Returns the number of customers with a purchase.
    func customerCount() throws -> Int64 {
        try service.database.number("select count(distinct customer) from deed.purchases")
    }

    /// Sets the store's faults through its control API.
    func suffer(_ text: String) throws {
        var client = try HTTPClient()
        let answer = try client.send(
            OutboundRequest(
                "PUT", "http://127.0.0.1:\(server.port)/practice/trouble",
                headers: [("Content-Type", "application/json")], body: Array(text.utf8)))
        guard answer.status == 200 else {
            throw Unexpected(reply: String(decoding: answer.body, as: UTF8.self))
        }
    }

    /// Lets each customer whom Deed does not know submit one transaction, as an app does when it
    /// starts. Deed cannot find such a customer in any other way.
    func handInUnknown() throws {
        var client = try HTTPClient()
        for life in lives {
            let path = "/v1/customers/\(life.customer)"
            if try call("GET", "\(path)?environment=sandbox")["purchases"]?.array?.isEmpty == false
            {
                continue
            }
            let answer = try client.send(
                OutboundRequest(
                    "GET",
                    "http://127.0.0.1:\(server.port)/practice/handover?customer=\(life.customer)",
                    headers: [], body: []))
            let signed = try JSON.read(answer.body)["signed_transactions"]?.array?.first
            guard let signed else { continue }
            let body: JSON = ["signed_transactions": [signed]]
            let reply = service.send("POST", "\(path)/receipts", key: backend, body: body.text)
            guard reply.status == 200 else { throw Unexpected(reply: reply.text) }
        }
    }

    /// Sets whether all notifications are lost.
    func cutOff(_ isCutOff: Bool) { posted.isCutOff.store(isCutOff, ordering: .relaxed) }

    /// Lets days pass in the store and in Deed. Notifications from that time arrive in parallel.
    func pass(days: Int64) throws {
        for passed in stride(from: 0, to: days, by: 10) {
            let step = min(10, days - passed) * PracticeNight.day
            let target = store.read { $0.now }.advanced(byMilliseconds: step)
            try store.advance(to: target)
            let now = store.read { $0.now }
            service.clock.advance(
                byMilliseconds: now.milliseconds - service.clock.now.milliseconds)
            deliver(posted.take())
            try service.publishBoundaries()
        }
    }

    private static let day: Int64 = 86_400_000
    private static let lanes = 8

    private func deliver(_ bodies: [[UInt8]]) {
        inParallel(PracticeNight.lanes) { [service] lane in
            for place in stride(from: lane, to: bodies.count, by: PracticeNight.lanes) {
                _ = service.send(
                    "POST", "/v1/stores/apple/notifications",
                    body: String(decoding: bodies[place], as: UTF8.self))
            }
        }
    }

    /// A function that answers a call in place of the store, or returns `nil` to let the call reach the store.
    typealias Detour = @Sendable (StoreCall) throws(StoreTrouble) -> StoreAnswer?

    func reconcile(
        _ steps: [ReconcileStep] = ReconcileStep.allCases, rehearsing: Bool = false,
        full: Bool = false, storeCalls: Int? = nil, slowCalls: Int? = nil,
        detour: @escaping Detour = { _ in nil }, change: (inout Intake) -> Void = { _ in },
        progress: @escaping (ReconcileProgress) -> Void = { _ in }
    ) throws -> ReconciliationFinished {
        var wish = ReconcileWish(project: try ProjectID("default"))
        wish.plan.steps = steps
        wish.plan.isFull = full
        wish.storeCalls = storeCalls ?? wish.storeCalls
        wish.slowCalls = slowCalls ?? wish.slowCalls
        wish.isRehearsal = rehearsing
        var intake = service.intake
        intake.detour { call, _ throws(StoreTrouble) in try detour(call) }
        change(&intake)
        return try service.reconcile(wish, over: intake, progress: progress)
    }

    /// Returns the entitlements whose last published change is an end.
    private func publishedAsOver(_ path: String) throws -> Set<String> {
        let events = try call("GET", "\(path)/events?environment=sandbox&limit=1000")["events"]
        return (events?.array ?? []).reduce(into: []) { over, event in
            guard let entitlement = event["data"]?["entitlement"]?.string else { return }
            switch event["type"]?.string {
            case "access.ended": over.insert(entitlement)
            case "access.started": over.remove(entitlement)
            default: break
            }
        }
    }

    /// Returns how many boundaries were published more than once.
    func publishedTwice() throws -> Int64 {
        try service.database.number(
            """
            select count(*) from (
                select from deed.events where type in ('access.ended', 'access.ending_soon')
                group by customer, environment, type, payload::jsonb ->> 'entitlement',
                    payload::jsonb ->> 'at'
                having count(*) > 1
            ) as twice
            """)
    }

    /// Returns a digest of all tables, except those about calls to stores and about leases.
    func tables() throws -> Int64 {
        try service.database.number(
            """
            select hashtextextended(string_agg(tablename || query_to_xml(format(
                'select md5(string_agg(t::text, chr(10) order by t::text)) as rows from deed.%I as t',
                tablename), true, true, '')::text, chr(10) order by tablename), 0)
            from pg_tables where schemaname = 'deed' and tablename not in ('store_budgets', 'leases')
            """)
    }

    /// Schedules the steps of a scenario in the store.
    func plan(_ scenario: JSON) throws {
        let scenario = try Scenario(scenario.bytes)
        try store.change { world throws(PracticeError) in _ = try world.plan(scenario) }
    }

    /// Returns the differences between Deed and the store's records.
    func complaints() throws -> [String] {
        let world = store.read { $0 }
        return try lives.flatMap { life in
            let path = "/v1/customers/\(life.customer)"
            let answer = try call("GET", "\(path)?environment=sandbox")
            var told = ToldLife(life, by: world)
            told.compare(answer)
            let active = (answer["entitlements"]?.object?.members ?? []).filter {
                $0.value["active"]?.bool == true
            }
            let over = try publishedAsOver(path).intersection(active.map(\.name))
            if over.isEmpty { return told.complaints }
            return told.complaints + [
                "\(life.customer): \(over.sorted()) published as ended, and active"
            ]
        }
    }

    /// Returns the states of the lives' subscriptions, according to the store's records.
    func states() -> Set<String> {
        let world = store.read { $0 }
        return lives.reduce(into: []) { $0.formUnion(ToldLife($1, by: world).states) }
    }
}
