package import Core
import Histories
import JSON
package import Minting
import Synchronization
import Threading

/// Submits several lives to two services at once, shuffled and with repetitions. Compares the
/// results with a life submitted in order.
package final class DeliveryCourse: Sendable {
    /// Makes a request to one of the two services.
    package typealias Call =
        (_ method: String, _ path: String, _ body: String, _ service: Int) throws -> (
            status: Int, text: String
        )

    private struct Unanswered: Error, CustomStringConvertible {
        let description: String
    }

    private static let lanes = 8
    private let lives: [MintedLife]
    private let environment: String
    private let start: Instant
    private let seed: UInt64
    private let complaints = Mutex<[String]>([])

    /// `count` is the number of lives besides the one in order. Each has a different order.
    package init(_ store: MintedStore, from start: Instant, lives count: Int) {
        lives = (0...count).map { MintedLife($0, from: start, in: store) }
        environment = store.environment.lowercased()
        self.start = start
        seed = UInt64.random(in: 0...UInt64.max)
        print("seed of deliveries: \(seed)")
    }

    /// Runs the course and returns all problems. Calls `makeCall` once on each thread.
    package func run(_ makeCall: @escaping @Sendable () throws -> Call) throws -> [String] {
        let call = try makeCall()
        for delivery in lives[0].deliveries { send(delivery, 0, call) }
        let sent = shuffled
        inParallel(DeliveryCourse.lanes) { [self] lane in
            do {
                let call = try makeCall()
                for place in stride(from: lane, to: sent.count, by: DeliveryCourse.lanes) {
                    send(sent[place].delivery, sent[place].service, call)
                }
            } catch {
                complain("\(error)")
            }
        }
        let expected = try answers(of: lives[0], through: 0, call)
        for (number, life) in lives.enumerated() {
            let found = try answers(of: life, through: number % 2, call)
            for (one, other) in zip(found, expected) where one != other {
                complain("\(life.customer) has \(one) instead of \(other)")
            }
            try lookForDoubles(life, call)
        }
        return complaints.withLock { $0 }
    }

    private func complain(_ text: String) {
        complaints.withLock { $0.append("seed \(seed): \(text)") }
    }

    private var shuffled: [(delivery: MintedLife.Delivery, service: Int)] {
        var random = SeededGenerator(seed: seed)
        var all: [(delivery: MintedLife.Delivery, service: Int)] = []
        for delivery in lives.dropFirst().flatMap(\.deliveries) {
            for _ in 0..<random.number(1...3) {
                all.append((delivery, Int(random.number(0...1))))
            }
        }
        all.shuffle(using: &random)
        return all
    }

    private func send(_ delivery: MintedLife.Delivery, _ service: Int, _ call: Call) {
        let path =
            delivery.customer.map { "/v1/customers/\($0)/receipts" }
            ?? "/v1/stores/apple/notifications"
        do {
            let answer = try call("POST", path, delivery.body, service)
            if answer.status != 200 { complain("\(path) is answered \(answer)") }
        } catch {
            complain("\(path): \(error)")
        }
    }

    private func read(_ path: String, _ service: Int, _ call: Call) throws -> JSON {
        let mark = path.contains("?") ? "&" : "?"
        let target = "\(path)\(mark)environment=\(environment)"
        let answer = try call("GET", target, "", service)
        guard answer.status == 200 else { throw Unanswered(description: "\(target): \(answer)") }
        return try JSON.read(answer.text)
    }

    /// Returns the life's balance and its entitlement over time, without names that differ between lives.
    private func answers(
        of life: MintedLife, through service: Int, _ call: Call
    ) throws -> [String] {
        let path = "/v1/customers/\(life.customer)"
        let balances = try read("\(path)/balances", service, call)["balances"]
        if balances?["coins"]?.integer != MintedLife.coins {
            complain("\(life.customer) has \(balances?.text ?? "no balances")")
        }
        let members = ["active", "since", "until", "state", "code", "will_renew", "product"]
        return try stride(from: 0, through: MintedLife.days, by: 7).map { day in
            let instant = start.advanced(byMilliseconds: day * 86_400_000)
            let json = try read("\(path)/entitlements/pro?at=\(instant.text)", service, call)
            return "day \(day): " + members.map { json[$0]?.text ?? "" }.joined(separator: " ")
        }
    }

    /// Expects each fact to be recorded once, and each transaction to be made or renewed once.
    private func lookForDoubles(_ life: MintedLife, _ call: Call) throws {
        let reply = try read("/v1/customers/\(life.customer)/events?limit=1000", 0, call)
        let events = reply["events"]?.array ?? []
        let told = events.filter { $0["type"] != "purchase.attached" }
            .compactMap { $0["data"]?.text }
        if Set(told).count != told.count {
            complain("\(life.customer) has a fact twice: \(told.joined(separator: "\n"))")
        }
        let attached = events.flatMap { event in
            event["type"] == "purchase.attached"
                ? event["data"]?["transactions"]?.array ?? [] : []
        }
        let new = events.filter {
            ["purchase.made", "subscription.renewed"].contains($0["type"]?.string)
        }
        let names = (attached + new.compactMap { $0["data"] })
            .compactMap { $0["transaction"]?.string }
        if names.count != MintedLife.transactions || Set(names).count != names.count {
            complain("\(life.customer) has the transactions \(names)")
        }
    }
}
