import Histories
import JSON
import Synchronization
import TestSupport
import Testing

extension ProgramTests {
    @Suite("Two services on one database", .timeLimit(.minutes(20)))
    struct TwoServices {
        private static let threads = 8
        private static let commands = 10_000

        @Test("Both write, each reads its own writes, and the log agrees with a model")
        func mixedCommands() throws {
            let database = try ScratchDatabase()
            let installation = try Installation(database)
            let key = try installation.makeKey()
            let services = [try installation.serve().url, try installation.serve().url]
            var seeds = seededGenerator("mixed commands")
            let clients = (0..<TwoServices.threads).map { index in
                MixedClient(
                    index, seed: seeds.next(), services: services,
                    commands: TwoServices.commands / TwoServices.threads)
            }
            inParallel(TwoServices.threads) { clients[$0].run(key: key) }
            for client in clients { #expect(client.findings == []) }

            var expected: [String: [String: Bool]] = [:]
            for client in clients {
                for (customer, grants) in client.model {
                    expected[customer, default: [:]].merge(grants) { one, _ in one }
                }
            }
            var api = try APIClient(key: key)
            for (customer, grants) in expected {
                var found: [String: Bool] = [:]
                let events = try api.events(of: customer, at: services[0])
                for event in events {
                    let grant = try #require(event["data"]?["grant"]?.string)
                    let isLive = event["type"]?.string == "grant.given"
                    #expect((found[grant] == nil) == isLive)
                    found[grant] = isLive
                }
                #expect(found == grants, "\(customer)")
                #expect(events.map { $0["version"]?.integer } == (1...events.count).map(Int64.init))
            }
            try installation.expectWholeLog()
            let deadlocks =
                "select deadlocks from pg_stat_database where datname = current_database()"
            #expect(try database.number(deadlocks) == 0)
        }
    }
}

/// Sends random commands to both services, and knows the expected results. Several clients use the
/// same customers, but different entitlements.
private final class MixedClient: Sendable {
    /// Whether each grant is active, by customer and grant.
    typealias Model = [String: [String: Bool]]

    private struct Sent {
        let path: String
        let body: String
        let key: String
        let answer: String
    }
    private struct State {
        var random: SeededGenerator
        var model: Model = [:]
        var entitlementOf: [String: String] = [:]
        var sent: [Sent] = []
        /// The position of each customer's newest write.
        var positions: [String: String] = [:]
        var findings: [String] = []
    }
    private let index: Int
    private let services: [String]
    private let commands: Int
    private let state: Mutex<State>

    init(_ index: Int, seed: UInt64, services: [String], commands: Int) {
        self.index = index
        self.services = services
        self.commands = commands
        state = Mutex(State(random: SeededGenerator(seed: seed)))
    }

    var model: Model { state.withLock { $0.model } }
    var findings: [String] { state.withLock { $0.findings } }

    func run(key: String) {
        state.withLock { state in
            do {
                var client = try APIClient(key: key)
                for number in 0..<commands where state.findings.count < 3 {
                    try step(&state, &client, number)
                }
            } catch {
                state.findings.append("\(error)")
            }
        }
    }

    private func step(_ state: inout State, _ client: inout APIClient, _ number: Int) throws {
        let service = services[Int.random(in: 0...1, using: &state.random)]
        let customer = "c\(Int.random(in: 0..<24, using: &state.random))"
        switch Int.random(in: 0..<20, using: &state.random) {
        case 0..<8: try give(&state, &client, service, customer, number)
        case 8..<11: try revoke(&state, &client, service, customer)
        case 11..<14: try sendAgain(&state, &client, service)
        default: try readBack(&state, &client, service, customer)
        }
    }

    private func give(
        _ state: inout State, _ client: inout APIClient, _ service: String, _ customer: String,
        _ number: Int
    ) throws {
        let entitlement = "e\(index)-\(Int.random(in: 0..<3, using: &state.random))"
        let path = "/v1/customers/\(customer)/grants"
        let body = #"{"entitlement":"\#(entitlement)","reason":"r"}"#
        let key = "\(index)-\(number)"
        let answer = try client.send("POST", service + path, body: body, idempotencyKey: key)
        let json = try JSON.read(answer.text)
        guard answer.status == 201, let grant = json["grant"]?["id"]?.string else {
            state.findings.append("giving was answered \(answer)")
            return
        }
        state.positions[customer] = json["position"]?.string
        state.model[customer, default: [:]][grant] = true
        state.entitlementOf[grant] = entitlement
        state.sent.append(Sent(path: path, body: body, key: key, answer: answer.text))
        try readBack(&state, &client, service, customer)
    }

    private func revoke(
        _ state: inout State, _ client: inout APIClient, _ service: String, _ customer: String
    ) throws {
        // The order is fixed, so that the choice depends only on the seed.
        let grants = (state.model[customer] ?? [:]).keys.sorted()
        guard let grant = grants.randomElement(using: &state.random) else { return }
        let answer = try client.send(
            "DELETE", "\(service)/v1/customers/\(customer)/grants/\(grant)?reason=r")
        if answer.status != 200 { state.findings.append("revoking was answered \(answer)") }
        state.positions[customer] = try JSON.read(answer.text)["position"]?.string
        state.model[customer]?[grant] = false
        try readBack(&state, &client, service, customer)
    }

    private func sendAgain(
        _ state: inout State, _ client: inout APIClient, _ service: String
    ) throws {
        guard let sent = state.sent.randomElement(using: &state.random) else { return }
        let answer = try client.send(
            "POST", service + sent.path, body: sent.body, idempotencyKey: sent.key)
        if answer.text != sent.answer {
            state.findings.append("\(sent.key) is answered \(answer.text), not \(sent.answer)")
        }
    }

    /// Expects a read that names the position to contain every write of this client, through either service.
    private func readBack(
        _ state: inout State, _ client: inout APIClient, _ service: String, _ customer: String
    ) throws {
        let answer = try client.send(
            "GET", "\(service)/v1/customers/\(customer)/entitlements",
            after: state.positions[customer])
        guard answer.status == 200 else {
            state.findings.append("reading was answered \(answer)")
            return
        }
        let entitlements = try JSON.read(answer.text)["entitlements"]
        let grants = state.model[customer] ?? [:]
        for entitlement in Set(grants.keys.compactMap { state.entitlementOf[$0] }) {
            let isHeld = grants.contains { $0.value && state.entitlementOf[$0.key] == entitlement }
            if entitlements?[entitlement]?["active"]?.bool != isHeld {
                state.findings.append("\(entitlement) of \(customer) should be \(isHeld)")
            }
        }
    }
}
