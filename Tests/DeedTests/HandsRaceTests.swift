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
    @Suite("Support and customers at once", .timeLimit(.minutes(20)))
    struct HandsRace {
        private static let clients = 16
        private static let customers = 50
        private static let kills = 10

        @Test(
            "Of two deeds on the same version one wins, and no coin is lost while a service is killed"
        )
        func race() throws {
            let installation = try Installation(ScratchDatabase())
            let folder = try EvidenceFolder()
            let services = try installation.pairThatSells(in: folder)
            let key = try installation.makeKey()
            var seeds = seededGenerator("support and customers at once")
            let clients = (0..<HandsRace.clients).map { index in
                HandsClient(
                    index, seed: seeds.next(), customers: HandsRace.customers, services: services)
            }
            try services.serve(clients, key: key, killing: HandsRace.kills, each: 40) {
                clients.reduce(0) { $0 + $1.done.count }
            }
            try verify(clients, key, services.steady)
            try installation.expectWholeLog()
            let audit = try installation.run("audit", "--projections")
            #expect(audit.code == 0, "\(audit.output)")
        }

        private func verify(
            _ clients: [HandsClient], _ key: String, _ service: RunningService
        ) throws {
            var api = try APIClient(key: key)
            var streams: [String: [JSON]] = [:]
            var nets: [String: Int64] = [:]
            var (spent, blocked, total) = (Int64(0), Set<String>(), Int64(0))
            for number in 0..<HandsRace.customers {
                let path = "\(service.url)/v1/customers/c\(number)"
                let events = try api.sandboxEvents(at: path)
                streams["c\(number)"] = events
                for event in events {
                    let data = event["data"]
                    let transaction = data?["transaction"]?.string ?? ""
                    let amount = data?["amount"]?.integer ?? 0
                    switch event["type"]?.string {
                    case "balance.credited": nets[transaction, default: 0] += amount
                    case "balance.debited": nets[transaction, default: 0] -= amount
                    case "balance.spent": spent += amount
                    case "purchase.blocked": blocked.insert(data?["purchase"]?.string ?? "")
                    case "purchase.unblocked": blocked.remove(data?["purchase"]?.string ?? "")
                    default: break
                    }
                }
                let answer = try api.read("\(path)/balances?environment=sandbox")
                total += answer["balances"]?["coins"]?.integer ?? 0
            }
            let done = clients.flatMap(\.done)
            #expect(Set(nets.keys) == Set(done.compactMap(\.submitted)))
            for (transaction, net) in nets {
                let isBlocked = blocked.contains("apple:\(transaction)")
                #expect(net == (isBlocked ? 0 : 100), "\(transaction)")
            }
            #expect(spent == done.reduce(0) { $0 + ($1.spent ?? 0) })
            #expect(total == nets.values.reduce(0, +) - spent)
            // A request for a certain version must be the next event after that version. Only due
            // events of the clock may come first.
            for deed in done {
                for (customer, version) in deed.seen {
                    let next = streams[customer]?.dropFirst(Int(version)).first {
                        $0["cause"]?.string?.hasPrefix("clock") != true
                    }
                    let cause = next?["cause"]?.string ?? "none"
                    let isOwn = customer == deed.customer
                    #expect(
                        isOwn
                            ? cause == "key:\(deed.key)"
                            : cause.hasPrefix("linked:")
                                && next?["type"]?.string == "purchase.attached",
                        "\(deed.kind) \(deed.key) of \(customer) behind \(version): \(cause)")
                }
            }
            let kinds = Dictionary(grouping: done, by: \.kind).mapValues(\.count)
            for kind in ["grant", "change", "block", "unblock", "spend", "submit", "transfer"] {
                #expect(kinds[kind, default: 0] > 0, "\(kinds)")
            }
            let lost = clients.reduce(0) { $0 + $1.lost }
            #expect(lost > 0)
            print("\(kinds), \(lost) came too late")
        }
    }
}

/// A request that succeeded.
private struct HandsDeed: Sendable {
    let kind: String
    let key: String
    /// The customer named by the request's call.
    let customer: String
    /// The version of each customer that the request required.
    var seen: [String: Int64] = [:]
    var spent: Int64?
    var submitted: String?
}

/// Acts at random like support and back ends. Other clients act on the same customers.
private final class HandsClient: RandomClient {
    private struct State {
        var random: SeededGenerator
        var number = 0
        var done: [HandsDeed] = []
        var lost = 0
        var grants: [(customer: String, id: String)] = []
        var sold: [String] = []
        var findings: [String] = []
    }
    private static let store = MintedStore(environment: "Sandbox")
    private let index: Int
    private let customers: Int
    private let services: ServicePair
    private let state: Mutex<State>
    /// The finished requests. Other threads read them while the client runs.
    private let count = Mutex<[HandsDeed]>([])

    init(
        _ index: Int, seed: UInt64, customers: Int, services: ServicePair
    ) {
        self.index = index
        self.customers = customers
        self.services = services
        state = Mutex(State(random: SeededGenerator(seed: seed)))
    }

    var done: [HandsDeed] { count.withLock { $0 } }
    var findings: [String] { state.withLock { $0.findings } }
    var lost: Int { state.withLock { $0.lost } }

    func run(key: String, until isOver: () -> Bool) {
        state.withLock { state in
            do {
                var client = try APIClient(key: key)
                while !isOver(), state.findings.count < 3 { try step(&state, &client) }
            } catch {
                state.findings.append("\(error)")
            }
        }
    }

    private func step(_ state: inout State, _ client: inout APIClient) throws {
        state.number += 1
        // Half of the time, all clients choose among the same five customers.
        let crowd = Bool.random(using: &state.random) ? customers : 5
        let customer = "c\(Int.random(in: 0..<crowd, using: &state.random))"
        let path = "/v1/customers/\(customer)"
        let days = Int.random(in: 1...300, using: &state.random)
        switch Int.random(in: 0..<16, using: &state.random) {
        case 0..<3:
            let body =
                #"{"entitlement":"pro","for":"P\#(days)D","reason":"r","allow_unknown":true}"#
            let answer = try bound(&state, &client, "grant", "POST", "\(path)/grants", body)
            if let id = answer?["grant"]?["id"]?.string { state.grants.append((customer, id)) }
        case 3..<5:
            guard let grant = state.grants.randomElement(using: &state.random) else { return }
            let path = "/v1/customers/\(grant.customer)/grants/\(grant.id)"
            // Each change sets a new end.
            let body = #"{"for":"P\#(300 + state.number)D","reason":"r"}"#
            _ = try bound(&state, &client, "change", "PATCH", path, body)
        case 5..<8:
            let body = #"{"amount":1,"allow_unknown":true}"#
            _ = try bound(&state, &client, "spend", "POST", "\(path)/balances/coins/spend", body)
        case 8..<11: try submit(&state, &client, path)
        default: try purchase(&state, &client, to: customer)
        }
    }

    private func submit(_ state: inout State, _ client: inout APIClient, _ path: String) throws {
        let isCoins = state.number % 2 == 0
        let name = "\(index)-\(isCoins ? "coins" : "level")-\(state.number)"
        let sale = Sale(
            name, isCoins ? "coins.100" : "level2", isCoins ? .consumable : .nonConsumable,
            at: Payload.signedAt)
        let body: JSON = [
            "environment": "sandbox",
            "signed_transactions": [.string(Self.store.transaction(sale))],
        ]
        guard let answer = try send(&state, &client, "POST", "\(path)/receipts", body.text, name),
            answer.status == 200
        else { return }
        state.sold.append(name)
        var deed = HandsDeed(kind: "submit", key: name, customer: "")
        if isCoins { deed.submitted = name }
        count.withLock { $0.append(deed) }
    }

    /// Moves, blocks or unblocks one of this client's sales, regardless of its present holder.
    private func purchase(
        _ state: inout State, _ client: inout APIClient, to customer: String
    ) throws {
        guard let name = state.sold.randomElement(using: &state.random) else { return }
        let search = "/v1/find?q=apple:\(name)&environment=sandbox"
        let answer = try send(&state, &client, "GET", search, "", nil)
        let found = try answer.map { try JSON.read($0.text)["matches"]?.array ?? [] }
        guard let holder = found?.first?["customer"]?.string else {
            state.findings.append("no customer has \(name): \(answer?.text ?? "")")
            return
        }
        let path = "/v1/customers/\(holder)/purchases/apple:\(name)"
        switch Int.random(in: 0..<3, using: &state.random) {
        case 0 where holder != customer:
            let body = #"{"to":"\#(customer)","reason":"r"}"#
            _ = try bound(&state, &client, "transfer", "POST", "\(path)/transfer", body)
        case 1: _ = try bound(&state, &client, "block", "POST", "\(path)/block", because)
        default: _ = try bound(&state, &client, "unblock", "POST", "\(path)/unblock", because)
        }
    }

    private var because: String { #"{"reason":"r"}"# }

    /// Previews a request, and makes it only if the customers have not changed since.
    private func bound(
        _ state: inout State, _ client: inout APIClient, _ kind: String, _ method: String,
        _ path: String, _ body: String
    ) throws -> JSON? {
        let path = "\(path)?environment=sandbox"
        guard let trial = try send(&state, &client, method, "\(path)&dry_run=1", body, nil) else {
            return nil
        }
        let sides = try JSON.read(trial.text)["customers"]?.array ?? []
        if trial.status != 200 { return refused(&state, trial) }
        let isNoChange = sides.allSatisfy { $0["before"] == $0["after"] }
        var seen: [String: Int64] = [:]
        for side in sides { seen[side["customer"]?.string ?? ""] = side["version"]?.integer }
        let versions = sides.map { "\($0["version"]?.integer ?? -1)" }.joined(separator: ",")
        let key = "h\(index)-\(state.number)"
        guard
            let answer = try send(
                &state, &client, method, "\(path)&if_version=\(versions)", body, key)
        else { return nil }
        let json = try JSON.read(answer.text)
        guard answer.status == 200 || answer.status == 201 else {
            return refused(&state, answer)
        }
        var deed = HandsDeed(
            kind: kind, key: key, customer: sides.first?["customer"]?.string ?? "")
        // Blocking a blocked purchase, or unblocking an unblocked one, writes no event.
        let mayBeNothing = kind == "block" || kind == "unblock"
        if !mayBeNothing || !isNoChange { deed.seen = seen }
        if kind == "spend" { deed.spent = 1 }
        count.withLock { $0.append(deed) }
        return json
    }

    /// Records the refusal, unless other clients' acts explain it.
    private func refused(_ state: inout State, _ answer: (status: Int, text: String)) -> JSON? {
        let code = (try? JSON.read(answer.text))?["code"]?.string ?? ""
        let expected = [
            "customer_changed_meanwhile", "insufficient_balance", "purchase_unknown",
            "bound_by_balance", "not_blocked", "already_held", "purchase_changed_meanwhile",
        ]
        if !expected.contains(code) { state.findings.append("\(answer)") }
        if code == "customer_changed_meanwhile" { state.lost += 1 }
        return nil
    }

    /// Returns the answer of either service. Repeats the call under the same key until there is one.
    private func send(
        _ state: inout State, _ client: inout APIClient, _ method: String, _ path: String,
        _ body: String, _ key: String?
    ) throws -> (status: Int, text: String)? {
        let start = Int.random(in: 0...1, using: &state.random)
        if let answer = services.send(&client, first: start, method, path, body, key: key) {
            return answer
        }
        state.findings.append("\(path) was never answered")
        return nil
    }
}
