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
    @Suite("Customers merged while everything goes on", .timeLimit(.minutes(20)))
    struct MergeRace {
        private static let clients = 16
        private static let customers = 50
        private static let kills = 10

        @Test("A purchase has one holder, a token one owner, and no coin is made or lost")
        func race() throws {
            let scratch = try ScratchDatabase()
            let installation = try Installation(scratch)
            let folder = try EvidenceFolder()
            let services = try installation.pairThatSells(in: folder)
            let key = try installation.makeKey()
            var seeds = seededGenerator("customers merged while everything goes on")
            let clients = (0..<MergeRace.clients).map { index in
                MergingClient(
                    index, seed: seeds.next(), customers: MergeRace.customers, services: services)
            }
            try services.serve(clients, key: key, killing: MergeRace.kills, each: 40) {
                clients.reduce(0) { $0 + $1.count }
            }
            try verify(clients, key, services.steady, scratch)
            try installation.expectWholeLog()
            let audit = try installation.run("audit", "--projections")
            #expect(audit.code == 0, "\(audit.output)")
        }

        @Test(
            "Erased while they are merged and parted, no part is left, and the feed has no content of it"
        )
        func erased() throws {
            let scratch = try ScratchDatabase()
            let installation = try Installation(scratch)
            let folder = try EvidenceFolder()
            let services = try installation.pairThatSells(in: folder)
            let key = try installation.makeKey()
            var seeds = seededGenerator("customers erased while they are merged")
            let clients = (0..<MergeRace.clients).map { index in
                MergingClient(
                    index, seed: seeds.next(), customers: MergeRace.customers, services: services,
                    erases: true)
            }
            try services.serve(clients, key: key, killing: 5, each: 60) {
                clients.reduce(0) { $0 + $1.count }
            }
            let waits = "select count(*) from deed.emptying"
            #expect(eventually(within: 120_000) { (try? scratch.number(waits)) == 0 })
            try expectForgotten(scratch)
            let twice = """
                select count(*) from (
                    select store, original from deed.purchases
                    group by store, original having count(*) > 1) as purchase
                """
            #expect(try scratch.number(twice) == 0)
            try expectSilent(of: scratch, key, services.steady)
            try installation.expectWholeLog()
            let audit = try installation.run(
                "audit", "--projections", "--evidence", "--extra-roots", "\(folder.path)/roots")
            #expect(audit.code == 0, "\(audit.output)")
            let kinds = Dictionary(grouping: clients.flatMap(\.done), by: \.kind).mapValues(\.count)
            for kind in ["merge", "undo", "erase", "submit"] {
                #expect(kinds[kind, default: 0] > 0, "\(kinds)")
            }
        }

        /// Expects an erased stream to contain only erasures with content, and no trace of
        /// customers merged into an erased one.
        private func expectForgotten(_ database: ScratchDatabase) throws {
            let later = """
                select from deed.events as later
                where later.customer = e.customer and later.environment = e.environment
                    and later.version > e.version and later.type = 'customer.erased'
                """
            let full = """
                select count(*) from deed.events as e
                where e.payload <> '' and e.type <> 'customer.erased' and exists (\(later))
                """
            #expect(try database.number(full) == 0)
            let rows = """
                select count(*) from deed.purchases as row
                where 'customer.erased' = (
                    select e.type from deed.events as e
                    where e.customer = row.customer and e.environment = row.environment
                    order by e.version desc limit 1)
                """
            #expect(try database.number(rows) == 0)
        }

        /// Expects the whole feed to contain nothing that was erased.
        private func expectSilent(
            of database: ScratchDatabase, _ key: String, _ service: RunningService
        ) throws {
            var api = try APIClient(key: key)
            var place = ""
            var (erased, last) = (
                [String: Int64](), [(stream: String, version: Int64, isFull: Bool)]()
            )
            while true {
                let page = try api.read(
                    "\(service.url)/v1/events?environment=sandbox&limit=1000\(place)")
                for event in page["events"]?.array ?? [] {
                    let stream = event["customer"]?.string ?? ""
                    let version = event["version"]?.integer ?? 0
                    if event["type"] == "customer.erased" {
                        erased[stream] = max(version, erased[stream] ?? 0)
                    } else {
                        let isFull = event["data"]?.isNull != true || event["access"]?.array != []
                        last.append((stream, version, isFull))
                    }
                }
                guard page["more"] == true, let next = page["next"]?.string else { break }
                place = "&after=\(next)"
            }
            #expect(!erased.isEmpty)
            for one in last where one.isFull {
                #expect(one.version > erased[one.stream] ?? 0, "\(one)")
            }
        }

        private func verify(
            _ clients: [MergingClient], _ key: String, _ service: RunningService,
            _ database: ScratchDatabase
        ) throws {
            var api = try APIClient(key: key)
            var nets: [String: Int64] = [:]
            var (spent, total) = (Int64(0), Int64(0))
            var holders: [String: [String]] = [:]
            var owners: [String: [String]] = [:]
            var merged = Set<String>()
            for number in 0..<MergeRace.customers {
                let customer = "c\(number)"
                let path = "\(service.url)/v1/customers/\(customer)"
                var tokens = Set<String>()
                for event in try api.sandboxEvents(at: path) {
                    let data = event["data"]
                    let transaction = data?["transaction"]?.string ?? ""
                    let amount = data?["amount"]?.integer ?? 0
                    let named = data?["tokens"]?.array?.compactMap(\.string) ?? []
                    switch event["type"]?.string {
                    case "balance.credited": nets[transaction, default: 0] += amount
                    case "balance.debited": nets[transaction, default: 0] -= amount
                    case "balance.spent": spent += amount
                    case "token.registered": tokens.insert(data?["token"]?.string ?? "")
                    case "customer.joined", "customer.unmerged": tokens.formUnion(named)
                    case "customer.merged", "customer.parted": tokens.subtract(named)
                    default: break
                    }
                }
                for token in tokens { owners[token, default: []].append(customer) }
                let answer = try api.read("\(path)?environment=sandbox")
                total += answer["balances"]?["coins"]?.integer ?? 0
                let purchases = answer["purchases"]?.array ?? []
                for purchase in purchases.compactMap({ $0["purchase"]?.string }) {
                    holders[purchase, default: []].append(customer)
                }
                if answer["merged_into"] != nil {
                    merged.insert(customer)
                    #expect(purchases.isEmpty && tokens.isEmpty, "\(customer) has something")
                }
            }
            let done = clients.flatMap(\.done)
            let sold = Set(done.compactMap(\.sold))
            #expect(Set(holders.keys) == Set(sold.map { "apple:\($0)" }))
            for (purchase, all) in holders { #expect(all.count == 1, "\(purchase): \(all)") }
            for (token, all) in owners { #expect(all.count == 1, "\(token): \(all)") }
            for (transaction, net) in nets {
                let isBlocked = try database.number(
                    "select count(*) from deed.purchases where original = '\(transaction)' "
                        + "and blocked_at is not null")
                #expect(net == (isBlocked == 1 ? 0 : 100), "\(transaction)")
            }
            #expect(spent == done.reduce(0) { $0 + ($1.kind == "spend" ? 1 : 0) })
            #expect(total == nets.values.reduce(0, +) - spent)
            let kinds = Dictionary(grouping: done, by: \.kind).mapValues(\.count)
            for kind in ["merge", "undo", "spend", "submit", "transfer", "block", "token"] {
                #expect(kinds[kind, default: 0] > 0, "\(kinds)")
            }
            print("\(kinds), \(merged.count) of \(MergeRace.customers) merged in the end")
        }
    }
}

/// A request that succeeded.
private struct MergeDeed: Sendable {
    let kind: String
    var sold: String?
}

/// Acts at random like customers, back ends and support, and also merges and unmerges customers.
private final class MergingClient: RandomClient {
    private static let explained: Set<String> = [
        "customer_merged", "customer_unknown", "merge_into_merged", "merge_circle", "not_merged",
        "merge_not_last", "merge_spent", "insufficient_balance", "purchase_unknown", "not_blocked",
        "bound_by_balance", "already_held", "purchase_changed_meanwhile", "token_taken",
        "customer_changed_meanwhile", "too_many_tokens", "intent_stale", "already_erased",
        "merge_of_erased", "merge_into_erased", "done_before_erasure",
    ]
    private static let store = MintedStore(environment: "Sandbox")
    private let index: Int
    private let customers: Int
    private let services: ServicePair
    private let erases: Bool
    private let state: Mutex<State>

    private struct State {
        var random: SeededGenerator
        var done: [MergeDeed] = []
        var sold: [String] = []
        var tokens: [String] = []
        var findings: [String] = []
    }

    init(
        _ index: Int, seed: UInt64, customers: Int, services: ServicePair, erases: Bool = false
    ) {
        self.erases = erases
        self.index = index
        self.customers = customers
        self.services = services
        state = Mutex(State(random: SeededGenerator(seed: seed)))
    }

    var done: [MergeDeed] { state.withLock { $0.done } }
    var count: Int { state.withLock { $0.done.count } }
    var findings: [String] { state.withLock { $0.findings } }

    func run(key: String, until isOver: () -> Bool) {
        do {
            var client = try APIClient(key: key)
            var number = 0
            while !isOver(), findings.count < 3 {
                number += 1
                try step("m\(index)-\(number)", &client)
            }
        } catch {
            state.withLock { $0.findings.append("\(error)") }
        }
    }

    private func draw(_ range: Range<Int>) -> Int {
        state.withLock { Int.random(in: range, using: &$0.random) }
    }

    private func anyone() -> String { "c\(draw(0..<customers))" }

    private func step(_ name: String, _ client: inout APIClient) throws {
        let (customer, other) = (anyone(), anyone())
        let path = "/v1/customers/\(customer)"
        switch draw(0..<(erases ? 14 : 12)) {
        case 12...: try erase(customer, &client)
        case 0..<2 where customer != other:
            try note(
                "merge", call(&client, "\(path)/merge", #"{"into":"\#(other)","reason":"r"}"#, name)
            )
        case 2: try note("undo", call(&client, "\(path)/merge/undo", #"{"reason":"r"}"#, name))
        case 3..<6: try submit(name, for: customer, &client)
        case 6..<8:
            try note(
                "spend",
                call(
                    &client, "\(path)/balances/coins/spend",
                    #"{"amount":1,"allow_unknown":true,"environment":"sandbox"}"#, name))
        case 8: try change(customer, to: other, name, &client)
        case 9..<11: try block(customer, name, &client)
        default: try register(for: customer, name, &client)
        }
    }

    private func note(_ kind: String, _ answer: JSON?) {
        if answer != nil { state.withLock { $0.done.append(MergeDeed(kind: kind)) } }
    }

    /// Submits a new sale or an earlier one, sometimes with a token.
    private func submit(_ name: String, for customer: String, _ client: inout APIClient) throws {
        let isCoins = draw(0..<2) == 0
        let token = draw(0..<2) == 0 ? state.withLock { $0.tokens.last } : nil
        let old = draw(0..<4) == 0 ? state.withLock { $0.sold.last } : nil
        let sale = Sale(
            name, isCoins ? "coins.100" : "level2", isCoins ? .consumable : .nonConsumable,
            at: Payload.signedAt
        ).with { $0.token = token }
        let signed = old ?? MergingClient.store.transaction(sale)
        let body: JSON = ["environment": "sandbox", "signed_transactions": [.string(signed)]]
        let done = try call(&client, "/v1/customers/\(customer)/receipts", body.text, name)
        guard done != nil else { return }
        state.withLock { state in
            state.done.append(MergeDeed(kind: "submit", sold: old == nil ? name : nil))
            if old == nil { state.sold.append(signed) }
        }
    }

    private func erase(_ customer: String, _ client: inout APIClient) throws {
        let treatment = draw(0..<2) == 0 ? "forget" : "free"
        let wish = #""reason":"r","environment":"sandbox","purchases":"\#(treatment)""#
        func send(_ body: String) throws -> JSON? {
            try call(&client, "/v1/customers/\(customer)/erase", body, nil)
        }
        guard let intent = try send("{\(wish)}")?["intent"]?.string else { return }
        note("erase", try send(#"{\#(wish),"intent":"\#(intent)"}"#))
    }

    private func purchase(of customer: String, _ client: inout APIClient) throws -> String? {
        let answer = services.send(
            &client, first: draw(0..<2), "GET", "/v1/customers/\(customer)?environment=sandbox")
        let purchases = try answer.map { try JSON.read($0.text)["purchases"]?.array } ?? []
        return purchases?.randomElement()?["purchase"]?.string
    }

    private func change(
        _ customer: String, to other: String, _ name: String, _ client: inout APIClient
    ) throws {
        guard customer != other, let purchase = try purchase(of: customer, &client) else { return }
        try note(
            "transfer",
            call(
                &client, "/v1/customers/\(customer)/purchases/\(purchase)/transfer",
                #"{"to":"\#(other)","reason":"r","environment":"sandbox"}"#, name))
    }

    private func block(_ customer: String, _ name: String, _ client: inout APIClient) throws {
        guard let purchase = try purchase(of: customer, &client) else { return }
        let verb = draw(0..<2) == 0 ? "block" : "unblock"
        try note(
            "block",
            call(
                &client, "/v1/customers/\(customer)/purchases/\(purchase)/\(verb)",
                #"{"reason":"r","environment":"sandbox"}"#, name))
    }

    private func register(
        for customer: String, _ name: String, _ client: inout APIClient
    ) throws {
        let old = draw(0..<3) == 0 ? state.withLock { $0.tokens.last } : nil
        let bytes = (0..<16).map { _ in UInt8(draw(0..<256)) }
        let token = old ?? AccountToken(random: bytes).text
        let done = try call(
            &client, "/v1/customers/\(customer)/account_token",
            #"{"token":"\#(token)","environment":"sandbox"}"#, name, method: "PUT")
        note("token", done)
        if done != nil, old == nil { state.withLock { $0.tokens.append(token) } }
    }

    /// Returns the answer, or `nil` if other clients' acts explain a refusal.
    private func call(
        _ client: inout APIClient, _ path: String, _ body: String, _ key: String?,
        method: String = "POST"
    ) throws -> JSON? {
        let answer = services.send(&client, first: draw(0..<2), method, path, body, key: key)
        guard let answer else {
            state.withLock { $0.findings.append("\(path) was never answered") }
            return nil
        }
        let json = try JSON.read(answer.text)
        if answer.status < 300 { return json }
        let code = json["code"]?.string ?? ""
        if !MergingClient.explained.contains(code) {
            state.withLock { $0.findings.append("\(method) \(path): \(answer)") }
        }
        return nil
    }
}
