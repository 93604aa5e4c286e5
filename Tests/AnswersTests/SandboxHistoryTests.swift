import Answers
import Core
import Histories
import JSON
import Service
import TestSupport
import Testing

@Suite("Sandbox purchases in the course of random histories", .timeLimit(.minutes(20)))
struct SandboxHistoryTests {
    fileprivate static let apps = ["com.example.game", "com.example.other"]
    private let services: [TestService]
    private let key: NewKey
    private let streams: [Core.Stream]

    init() throws {
        (services, key, streams) = try makeBazaar(customers: 8)
    }

    /// The stores' reports about one customer, in each environment.
    private struct Told {
        let production: Facts
        let sandbox: Facts

        var plain: NaiveModel { NaiveModel(products: naiveBazaar, facts: production) }

        /// Returns the production purchases together with the sandbox purchases of these apps.
        /// Sandbox installations do not count.
        func merged(from apps: Set<AppID>) -> NaiveModel {
            var facts = production
            facts.transactions += sandbox.transactions.filter { apps.contains($0.app) }
            facts.renewals += sandbox.renewals.filter { apps.contains($0.app) }
            return NaiveModel(products: naiveBazaar, facts: facts)
        }
    }

    @Test(
        "Memory, database and the naive model include the same, whatever the settings"
    )
    func merged() throws {
        let seed = printedSeed(of: "sandbox histories")
        var random = SeededGenerator(seed: seed)
        var access: [AppID: SandboxAccess] = [:]
        for app in Self.apps { _ = try setAccess(of: AppID(app), &access, &random) }
        var told: [Core.Stream: Told] = [:]
        for (index, stream) in streams.enumerated() {
            told[stream] = try tell(index, seed: seed, &random)
        }
        let comparison = AnswerComparison(services, key: key)
        var (merged, changes) = (0, 0)
        for stream in streams {
            let told = try #require(told[stream])
            let everything = told.merged(from: Set(try Self.apps.map { try AppID($0) }))
            let context = "seed \(seed), \(stream.customer)"
            for boundary in NaiveModel.moments(everything.sources()) {
                for offset: Int64 in -1...1 {
                    setClock(boundary + offset)
                    let app = try AppID(Self.apps[Int(random.number(0...1))])
                    let position =
                        random.chance(15) ? try setAccess(of: app, &access, &random) : nil
                    let counting = Set(access.filter { $0.value.counts(stream.customer) }.keys)
                    let plain = told.plain.answers(at: boundary + offset)
                    let naive = told.merged(from: counting).answers(at: boundary + offset)
                    if let position {
                        try comparison.expect(naive, after: position, of: stream, context)
                        awaitInstances(position)
                        changes += 1
                    }
                    try comparison.expect(
                        naive, inSQL: plain, of: stream, "\(context), \(access)")
                    merged += naive == plain ? 0 : 1
                }
            }
            try expectBalances(told.plain, of: stream, context)
        }
        #expect(merged > 20)
        #expect(changes > 10)
    }

    private func setClock(_ moment: Int64) {
        let clock = services[0].clock
        clock.advance(byMilliseconds: moment - clock.now.milliseconds)
    }

    /// Reports a customer's facts in both environments to both instances, one by one in random
    /// order, while production answers are read.
    private func tell(
        _ index: Int, seed: UInt64, _ random: inout SeededGenerator
    ) throws -> Told {
        let stream = streams[index]
        let seed = seed &+ UInt64(index)
        let own = RandomHistory(seed: seed, prefix: "\(index)-").facts
        let other = RandomHistory(seed: ~seed, prefix: "\(index)s-").facts.map(\.inSandbox)
        let all = own.map { (stream, $0) } + other.map { (stream.inSandbox, $0) }
        let path = AnswerComparison(services, key: key).path(of: stream)
        for (number, (place, fact)) in all.shuffled(using: &random).enumerated() {
            _ = services[0].send("GET", path, key: key)
            _ = try services[number % 2].ledger.append(
                .record(AnyFact.facts([fact]), for: place, key: "\(number)"))
        }
        _ = try services[0].ledger.append(
            .give("vip", to: stream.inSandbox, grant: "vip\(index)"))
        return Told(production: AnyFact.facts(own), sandbox: AnyFact.facts(other))
    }

    /// Chooses at random whose sandbox purchases of an app count, and sets this through either instance.
    private func setAccess(
        of app: AppID, _ access: inout [AppID: SandboxAccess], _ random: inout SeededGenerator
    ) throws -> Position {
        let next: SandboxAccess =
            switch random.number(0...3) {
            case 0: .none
            case 1: .all
            default: .listed(Set(streams.map(\.customer).filter { _ in random.chance(50) }))
            }
        access[app] = next
        let service = services[Int(random.number(0...1))]
        return try service.changeProject("\(random.next())") { state, project throws(Refusal) in
            try state.set(
                AppKey(store: .apple, id: app), AppChange(sandboxAccess: next), of: project,
                by: .operator)
        }
    }

    /// Waits until both instances have seen the events up to this position.
    private func awaitInstances(_ position: Position) {
        for service in services {
            #expect(
                eventually(within: 5000) {
                    service.reads.cache.place[Int(position.shard.number)] >= position.sequence
                })
        }
    }

    private func expectBalances(
        _ naive: NaiveModel, of stream: Core.Stream, _ context: String
    ) throws {
        let path = AnswerComparison(services, key: key).path(of: stream)
            .replacing("/entitlements", with: "/balances")
        let found = try services[0].send("GET", path, key: key).json["balances"]?.object?.members
        let expected = naive.balances().filter { $0.value != 0 }
        let pairs = (found ?? []).compactMap { member in
            member.value.integer.map { (member.name, $0) }
        }
        #expect(
            Dictionary(uniqueKeysWithValues: pairs).filter { $0.value != 0 } == expected,
            "\(context)")
    }
}

extension SandboxAccess {
    /// Returns whether the customer's sandbox purchases count. This does not use Core's rules.
    fileprivate func counts(_ customer: CustomerID) -> Bool {
        switch self {
        case .none: false
        case .listed(let customers): customers.contains(customer)
        case .all: true
        }
    }
}

extension NaiveModel {
    fileprivate func answers(at moment: Int64) -> [String: Answer] {
        NaiveModel.timelines(sources()).mapValues { NaiveModel.answer($0, at: moment) }
    }
}

extension AnyFact {
    /// The same fact in the sandbox. Every other purchase belongs to another app.
    fileprivate var inSandbox: AnyFact {
        func app(_ original: TransactionID) -> AppID {
            let isOther = original.text.utf8.reduce(0) { $0 &+ Int($1) } % 2 == 1
            return id(SandboxHistoryTests.apps[isOther ? 1 : 0])
        }
        switch self {
        case .transaction(var fact):
            fact.environment = .sandbox
            fact.app = app(fact.original)
            return .transaction(fact)
        case .renewal(var fact):
            fact.environment = .sandbox
            fact.app = app(fact.original)
            return .renewal(fact)
        case .app(var fact):
            fact.environment = .sandbox
            return .app(fact)
        case .refund(let fact):
            return .refund(
                RefundFact(
                    fact.id, fact.stage, app: app(fact.original), store: fact.store,
                    environment: .sandbox, original: fact.original, transaction: fact.transaction,
                    signedAt: fact.signedAt, rank: fact.rank))
        case .consent(let fact):
            return .consent(
                ConsentFact(
                    fact.id, store: fact.store, environment: .sandbox, app: fact.app,
                    appTransaction: fact.appTransaction, signedAt: fact.signedAt, rank: fact.rank))
        }
    }
}
