import Core
import Glibc
import Histories
import JSON
import Minting
import Synchronization
import TestSupport
import Testing
import Threading

extension ProgramTests {
    @Suite("Customers erased while everything goes on", .timeLimit(.minutes(20)))
    struct ErasureRace {
        private static let clients = 12
        private static let customers = 24
        private static let kills = 8

        @Test(
            "No answer has a right of before an erasure, no coin is doubled, and nothing is left while a service is killed"
        )
        func race() throws {
            let scratch = try ScratchDatabase()
            let installation = try Installation(scratch)
            let folder = try EvidenceFolder()
            let services = try installation.pairThatSells(
                in: folder, ["--webhook-allow", "127.0.0.1"])
            let key = try installation.makeKey()
            let receivers = try WebhookReceivers([("well", "none")])
            _ = try installation.makeWebhook(
                receivers, "well", "--types", "grant.given,customer.erased", "--environment",
                "sandbox")
            var seeds = seededGenerator("customers erased while everything goes on")
            let shared = SharedSales()
            let clients = (0..<ErasureRace.clients).map { index in
                ErasingClient(
                    index, seed: seeds.next(), customers: ErasureRace.customers, services, shared)
            }
            let catalogs = CatalogChanges(services, key)
            try services.serve(clients, key: key, killing: ErasureRace.kills, each: 8) {
                clients.reduce(0) { $0 + $1.record.erasures.count }
            }
            #expect(catalogs.stop() > 0)
            // Each sale has one piece of evidence. Several customers may submit it.
            let twice = """
                select count(*) from (
                    select evidence from deed.events where type = 'balance.credited'
                    group by evidence having count(*) > 1) as sale
                """
            #expect(try scratch.number(twice) == 0)
            try expectEmptied(scratch)
            try expectDelivered(receivers, scratch)
            try verify(clients.map(\.record), key, services.steady)
            try installation.expectWholeLog()
            let audit = try installation.run("audit", "--projections")
            #expect(audit.code == 0, "\(audit.output)")
        }

        /// Expects a message about every erasure. No later message may contain earlier data.
        private func expectDelivered(
            _ receivers: WebhookReceivers, _ database: ScratchDatabase
        ) throws {
            let erasures = """
                select count(*) from deed.events
                where type = 'customer.erased' and customer like 'c%'
                """
            let expected = try database.number(erasures)
            func arrived() throws -> Int64 {
                let erased = try receivers.calls("well").filter { $0["type"] == "customer.erased" }
                return Int64(Set(erased.compactMap { $0["id"]?.string }).count)
            }
            #expect(try eventually(within: 120_000) { try arrived() == expected })
            var last: [String: Int64] = [:]
            for call in try receivers.calls("well", all: true) {
                let customer = call["customer"]?.string ?? ""
                let version = call["version"]?.integer ?? 0
                if call["type"] == "customer.erased" {
                    last[customer] = max(version, last[customer] ?? 0)
                } else if version < last[customer] ?? 0 {
                    #expect(call["erased"] == true, "\(call)")
                }
            }
        }

        private func expectEmptied(_ database: ScratchDatabase) throws {
            #expect(
                eventually(within: 120_000) {
                    (try? database.number("select count(*) from deed.emptying")) == 0
                })
            let full = """
                select count(*) from deed.events as e
                where e.payload <> '' and e.type <> 'customer.erased' and exists (
                    select from deed.events as later
                    where later.customer = e.customer and later.project = e.project
                        and later.environment = e.environment and later.version > e.version
                        and later.type = 'customer.erased')
                """
            #expect(try database.number(full) == 0)
        }

        private func verify(
            _ records: [ErasingRecord], _ key: String, _ service: RunningService
        ) throws {
            var api = try APIClient(key: key)
            var lives: [String: LifeRecord] = [:]
            var nets: [String: Int64] = [:]
            for number in 0..<ErasureRace.customers {
                let path = "\(service.url)/v1/customers/c\(number)"
                let life = LifeRecord(try api.sandboxEvents(at: path))
                #expect(life.isSound, "c\(number)")
                lives["c\(number)"] = life
                for (transaction, net) in life.nets { nets[transaction, default: 0] += net }
                let answer = try api.read("\(path)/balances?environment=sandbox")
                #expect(
                    answer["balances"]?["coins"]?.integer ?? 0 == life.coins,
                    "c\(number): \(answer.text)")
            }
            for (transaction, net) in nets { #expect(net == 100, "\(transaction)") }
            for record in records {
                for erasure in record.erasures {
                    for name in erasure.seen {
                        let place = lives[erasure.customer]?.places[name] ?? []
                        #expect(
                            place.contains { $0 > erasure.version },
                            "\(name) of \(erasure.customer) outlived version \(erasure.version)")
                    }
                }
                for (name, customer) in record.granted {
                    #expect(lives[customer]?.places[name]?.count == 1, "\(name) of \(customer)")
                }
            }
            let erasures = records.flatMap(\.erasures)
            #expect(Set(erasures.map(\.treatment)) == ["forget", "free"])
            #expect(records.reduce(0) { $0 + $1.purchasesErased } > 0)
            print("\(erasures.count) erasures")
        }
    }
}

/// Changes the catalog repeatedly, so that all customers are projected again.
private final class CatalogChanges: Sendable {
    private let isOver = Mutex(false)
    private let count = Monitor((done: 0, hasEnded: false))

    init(_ services: ServicePair, _ key: String) {
        startThread("catalogs") { [self] in
            guard var client = try? APIClient(key: key) else { return }
            while !isOver.withLock({ $0 }) {
                let extra = count.change { $0.done % 2 == 0 ? CatalogChanges.extra : "" }
                let catalog = #"{"products":[\#(CatalogChanges.products)\#(extra)]}"#
                let answer = services.send(
                    &client, first: 0, "PUT", "/v1/catalog", catalog)
                if answer?.status == 200 { count.change { $0.done += 1 } }
                pause(milliseconds: 200)
            }
            count.change { $0.hasEnded = true }
        }
    }

    /// Stops. Returns the number of changes.
    func stop() -> Int {
        isOver.withLock { $0 = true }
        return count.wait(milliseconds: 60_000) { $0.hasEnded ? $0.done : nil } ?? 0
    }

    private static let products = """
        {"id":"coins.100","kind":"consumable","credits":{"coins":100}},
        {"id":"level2","kind":"non_consumable","entitlements":["level2"]}
        """
    private static let extra = #",{"id":"level3","kind":"non_consumable","entitlements":["l3"]}"#
}

/// What a customer's events show.
private struct LifeRecord {
    /// The versions of the events caused by each call.
    private(set) var places: [String: [Int64]] = [:]
    /// The balance since the last erasure.
    private(set) var coins: Int64 = 0
    private(set) var nets: [String: Int64] = [:]
    /// Whether all erased events are empty and all others are not.
    private(set) var isSound = true

    init(_ events: [JSON]) {
        let last = events.last { $0["type"]?.string == "customer.erased" }
        let erasedAt = last?["version"]?.integer ?? 0
        for event in events {
            let version = event["version"]?.integer ?? 0
            let type = event["type"]?.string ?? ""
            if let cause = event["cause"]?.string, cause.hasPrefix("key:") {
                places[String(cause.dropFirst(4)), default: []].append(version)
            }
            if type.hasPrefix("purchase.") { places["level2", default: []].append(version) }
            let isErased = event["erased"] == true && event["data"]?.isNull == true
            if isErased != (version < erasedAt && type != "customer.erased") { isSound = false }
            if isErased { continue }
            let data = event["data"]
            let amount = data?["amount"]?.integer ?? 0
            switch type {
            case "balance.credited": add(amount, by: data)
            case "balance.debited": add(-amount, by: data)
            case "balance.spent": coins -= amount
            default: break
            }
        }
    }

    private mutating func add(_ amount: Int64, by data: JSON?) {
        coins += amount
        nets[data?["transaction"]?.string ?? "", default: 0] += amount
    }
}

/// Everything sold to any customer, with the store's signature.
private final class SharedSales: Sendable {
    private static let store = MintedStore(environment: "Sandbox")
    private let signed = Mutex<[String]>([])

    func sell(_ name: String, coins: Bool) -> String {
        let sale = Sale(
            name, coins ? "coins.100" : "level2", coins ? .consumable : .nonConsumable,
            at: Payload.signedAt)
        let text = SharedSales.store.transaction(sale)
        signed.withLock { $0.append(text) }
        return text
    }

    func old(_ random: inout SeededGenerator) -> String? {
        signed.withLock { $0.randomElement(using: &random) }
    }
}

/// The answers that one client got.
private struct ErasingRecord: Sendable {
    struct Erasure {
        let customer: String
        let version: Int64
        let treatment: String
        /// The entitlements in later answers.
        let seen: [String]
    }
    var erasures: [Erasure] = []
    var granted: [(name: String, customer: String)] = []
    var purchasesErased = 0
    var findings: [String] = []
}

/// Acts at random like customers, back ends and support, and also erases customers.
private final class ErasingClient: RandomClient {
    private static let explained: Set<String> = [
        "intent_stale", "customer_unknown", "already_erased", "customer_changed_meanwhile",
        "insufficient_balance", "purchase_unknown", "bound_by_balance", "already_held",
        "purchase_changed_meanwhile", "done_before_erasure",
    ]
    private let index: Int
    private let customers: Int
    private let services: ServicePair
    private let sales: SharedSales
    private let random: Mutex<SeededGenerator>
    private let state = Mutex(ErasingRecord())

    init(
        _ index: Int, seed: UInt64, customers: Int, _ services: ServicePair, _ sales: SharedSales
    ) {
        self.index = index
        self.customers = customers
        self.services = services
        self.sales = sales
        random = Mutex(SeededGenerator(seed: seed))
    }

    var record: ErasingRecord { state.withLock { $0 } }
    var findings: [String] { record.findings }

    func run(key: String, until isOver: () -> Bool) {
        do {
            var client = try APIClient(key: key)
            var number = 0
            while !isOver(), record.findings.count < 3 {
                number += 1
                try step(number, &client)
            }
        } catch {
            state.withLock { $0.findings.append("\(error)") }
        }
    }

    private func draw(_ range: Range<Int>) -> Int {
        random.withLock { Int.random(in: range, using: &$0) }
    }

    private func step(_ number: Int, _ client: inout APIClient) throws {
        let customer = "c\(draw(0..<customers))"
        let name = "k\(index)-\(number)"
        switch draw(0..<12) {
        case 0..<3: try grant(name, to: customer, &client)
        case 3..<6: try submit(name, for: customer, &client)
        case 6: try move(name, to: customer, &client)
        case 7..<9:
            _ = try call(
                &client, "POST", "/v1/customers/\(customer)/balances/coins/spend",
                #"{"amount":1,"allow_unknown":true}"#, key: name)
        default: try erase(customer, &client)
        }
    }

    private func grant(_ name: String, to customer: String, _ client: inout APIClient) throws {
        let done = try call(
            &client, "POST", "/v1/customers/\(customer)/grants",
            #"{"entitlement":"\#(name)","reason":"r","allow_unknown":true}"#, key: name)
        if done != nil { state.withLock { $0.granted.append((name, customer)) } }
    }

    private func submit(_ name: String, for customer: String, _ client: inout APIClient) throws {
        let old = draw(0..<3) == 0 ? random.withLock { sales.old(&$0) } : nil
        let signed = old ?? sales.sell(name, coins: draw(0..<2) == 0)
        let body: JSON = [
            "environment": "sandbox", "signed_transactions": [.string(signed)],
        ]
        let done = try call(
            &client, "POST", "/v1/customers/\(customer)/receipts", body.text, key: name)
        if done?["items"]?.array?.first?["code"]?.string == "purchase_erased" {
            state.withLock { $0.purchasesErased += 1 }
        }
    }

    private func move(_ name: String, to customer: String, _ client: inout APIClient) throws {
        let holder = "c\(draw(0..<customers))"
        let answer = try call(&client, "GET", "/v1/customers/\(holder)")
        guard let purchase = answer?["purchases"]?.array?.first?["purchase"]?.string,
            holder != customer
        else { return }
        _ = try call(
            &client, "POST", "/v1/customers/\(holder)/purchases/\(purchase)/transfer",
            #"{"to":"\#(customer)","reason":"r"}"#, key: name)
    }

    private func erase(_ customer: String, _ client: inout APIClient) throws {
        let treatment = draw(0..<2) == 0 ? "forget" : "free"
        let path = "/v1/customers/\(customer)/erase"
        let wish = #""reason":"r","environment":"sandbox","purchases":"\#(treatment)""#
        let look = try call(&client, "POST", path, "{\(wish)}")
        guard let intent = look?["intent"]?.string else { return }
        let done = try call(&client, "POST", path, #"{\#(wish),"intent":"\#(intent)"}"#)
        guard let erased = done?["erased"]?.array?.first,
            let version = erased["version"]?.integer, let position = erased["position"]?.string
        else { return }
        var seen: [String] = []
        for first in 0...1 {
            let answer = try call(
                &client, "GET", "/v1/customers/\(customer)/entitlements", first: first,
                after: position)
            guard case .object(let rights)? = answer?["entitlements"] else { continue }
            seen += rights.members.filter { $0.value["active"] == true }.map(\.name)
        }
        state.withLock {
            $0.erasures.append(
                ErasingRecord.Erasure(
                    customer: customer, version: version, treatment: treatment, seen: seen))
        }
    }

    /// Returns the answer, or `nil` if other clients' acts explain a refusal.
    private func call(
        _ client: inout APIClient, _ method: String, _ path: String, _ body: String = "",
        key: String? = nil, first: Int? = nil, after position: String? = nil
    ) throws -> JSON? {
        let path = path + (path.hasSuffix("/erase") ? "" : "?environment=sandbox")
        let answer = services.send(
            &client, first: first ?? draw(0..<2), method, path, body, key: key, after: position)
        guard let answer else {
            state.withLock { $0.findings.append("\(path) was never answered") }
            return nil
        }
        let json = try JSON.read(answer.text)
        if answer.status < 300 { return json }
        let code = json["code"]?.string ?? json["error"]?["code"]?.string ?? ""
        if !ErasingClient.explained.contains(code) {
            state.withLock { $0.findings.append("\(method) \(path): \(answer)") }
        }
        return nil
    }
}
