import Core
import Histories
import Testing

/// A fact and its sender.
private struct Delivery: CustomStringConvertible {
    let fact: AnyFact
    let bearer: Submission.Bearer

    var description: String { "\(bearer): \(fact)" }
}

@Suite("Submissions in any order")
struct SubmissionOrderTests {
    private static let count = ConvergenceTests.count / 5
    private static let batchSize = 200
    private static let people: [CustomerID] = [id("anna"), id("ben")]
    private static let tokens = [
        people[0]: "6f0a4f0e-8a0e-4b43-9f5d-0d1b6c0f8a11",
        people[1]: "6f0a4f0e-8a0e-4b43-9f5d-0d1b6c0f8a12",
    ]

    @Test(
        "Facts in any order from any sender lead to the same end",
        arguments: 0..<count / batchSize)
    func converges(batch: Int) throws {
        let first = ConvergenceTests.firstSeed + UInt64(batch * Self.batchSize)
        for seed in first..<first + UInt64(Self.batchSize) {
            let deliveries = deliveries(seed)
            guard try difference(deliveries, seed) != nil else { continue }
            let shrunk = shrink(deliveries) { (try? difference($0, seed)) != .some(nil) }
            Issue.record(
                """
                seed \(seed): \(try difference(shrunk, seed) ?? "")
                \(shrunk.map(\.description).joined(separator: "\n"))
                """)
            return
        }
    }

    /// Returns the facts of both people. The people or the store send them. If a fact has the
    /// owner's token, the other person may also send it.
    private func deliveries(_ seed: UInt64) -> [Delivery] {
        var random = SeededGenerator(seed: seed)
        var deliveries: [Delivery] = []
        for (index, owner) in Self.people.enumerated() {
            let other = Self.people[1 - index]
            let history = RandomHistory(seed: random.next(), prefix: "\(owner)-")
            for fact in history.facts {
                let (fact, isNamed) = tokened(fact, owner)
                for _ in 0..<random.number(1...2) {
                    let bearer: Submission.Bearer =
                        switch random.number(0...9) {
                        case 0..<4: .customer(owner)
                        case 4: .restorer(owner)
                        case 5...6 where isNamed: .customer(other)
                        default: fact.isOfApp ? .customer(owner) : .store
                        }
                    deliveries.append(Delivery(fact: fact, bearer: bearer))
                }
                // The store's statement alone finds a holder only after the earlier purchase has one.
                if fact.isOfBundle {
                    deliveries.append(Delivery(fact: fact, bearer: .customer(owner)))
                }
            }
        }
        return deliveries
    }

    /// Returns the fact. For half of the purchases, adds the owner's token, which receipts do not show.
    private func tokened(_ fact: AnyFact, _ owner: CustomerID) -> (AnyFact, isNamed: Bool) {
        guard case .transaction(var transaction) = fact, !transaction.rank.isLegacy,
            transaction.original.text.utf8.last.map({ $0 % 2 == 0 }) == true
        else { return (fact, false) }
        transaction.accountToken = Self.tokens[owner]?.uppercased()
        return (.transaction(transaction), true)
    }

    /// Returns how the results of two orders of the same deliveries differ, or `nil` if they are equal.
    private func difference(_ deliveries: [Delivery], _ seed: UInt64) throws -> String? {
        var random = SeededGenerator(seed: seed)
        let ordered = try world(after: deliveries.map { [$0] })
        let late = deliveries.shuffled(using: &random)
        let disordered = try world(
            after: pieces(late + late.prefix(late.count / 2), &random))
        if ordered.holders != disordered.holders { return "the holders differ by order" }
        for customer in Set(ordered.states.keys).union(disordered.states.keys) {
            let (one, other) = (ordered.customer(customer), disordered.customer(customer))
            if facts(of: one) != facts(of: other) { return "the purchases of \(customer) differ" }
            if one.apps != other.apps { return "the installations of \(customer) differ" }
            for currency in ["coins", "gems"] where one.balance(currency) != other.balance(currency)
            {
                return "\(currency) of \(customer): \(one.balance(currency)) or "
                    + "\(other.balance(currency))"
            }
        }
        return alone(deliveries, disordered)
    }

    /// Returns the purchases without the way in which they arrived.
    private func facts(of state: CustomerState) -> [[TransactionEvidence]] {
        state.purchases.map(\.evidence)
    }

    /// Returns how the customer differs from a customer who submitted everything, or `nil` if they are equal.
    private func alone(_ deliveries: [Delivery], _ world: World) -> String? {
        for owner in Self.people {
            var state = CustomerState()
            for delivery in deliveries
            where delivery.fact.owner ?? delivery.bearer.customer?.text == owner.text {
                if case .transaction(let fact) = delivery.fact,
                    world.holders[fact.purchase] != owner
                {
                    continue
                }
                state.record(AnyFact.facts([delivery.fact]))
            }
            let other = world.customer(owner)
            for day in stride(from: Int64(0), through: 40, by: 5) {
                let (one, other) = (
                    state.entitlements(at: at(day), catalog: shop),
                    other.entitlements(at: at(day), catalog: shop)
                )
                if one != other { return "the answers about \(owner) differ at day \(day)" }
            }
            if state.balance("coins") != other.balance("coins") { return "coins of \(owner)" }
        }
        return nil
    }

    private func world(after pieces: [[Delivery]]) throws -> World {
        var world = World()
        for (person, token) in Self.tokens { world.tokens[token] = person }
        for piece in pieces {
            guard let bearer = piece.first?.bearer else { continue }
            try world.submit([AnyFact.facts(piece.map(\.fact))], by: bearer)
        }
        return world
    }

    /// Returns the facts in pieces. Some consecutive facts from the same sender share a piece.
    private func pieces(
        _ deliveries: [Delivery], _ random: inout SeededGenerator
    ) -> [[Delivery]] {
        var pieces: [[Delivery]] = []
        for delivery in deliveries {
            if let last = pieces.indices.last, pieces[last][0].bearer == delivery.bearer,
                random.chance(50)
            {
                pieces[last].append(delivery)
            } else {
                pieces.append([delivery])
            }
        }
        return pieces
    }
}

extension AnyFact {
    fileprivate var isOfApp: Bool {
        switch self {
        case .app, .consent: true
        case .transaction, .renewal, .refund: false
        }
    }

    fileprivate var isOfBundle: Bool {
        if case .transaction(let fact) = self { fact.previousOriginal != nil } else { false }
    }

    /// The person whose history contains the fact; `nil` for installations.
    fileprivate var owner: String? {
        let original: TransactionID
        switch self {
        case .transaction(let fact): original = fact.original
        case .renewal(let fact): original = fact.original
        case .refund(let fact): original = fact.original
        case .app, .consent: return nil
        }
        return original.text.split(separator: "-").first.map(String.init)
    }
}

@Suite("Repeated submissions")
struct RepeatedSubmissionTests {
    @Test("The outcomes can be derived from the events of the first time", arguments: 0..<300)
    func repeats(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let (anna, ben): (CustomerID, CustomerID) = (id("anna"), id("ben"))
        var world = World()
        world.tokens["token"] = anna
        let history = RandomHistory(seed: seed).facts
        for fact in history where random.chance(40) {
            let bearers: [Submission.Bearer] = [.store, .customer(anna), .customer(ben)]
            try world.submit(
                [AnyFact.facts([fact])], by: bearers[Int(random.number(0...2))])
        }
        let items = history.shuffled(using: &random).enumerated().map {
            Submission.Item(index: $0, facts: AnyFact.facts([$1]))
        }
        let submission = Submission(items, by: .customer(anna))
        let before = world.events.count
        var outcomes = try world.submit(submission)
        // The repetition reports no new unknown products.
        for place in outcomes.indices { outcomes[place].newUnknownProduct = nil }
        let own = world.events.dropFirst(before).filter { $0.customer == anna }.map(\.event)
        // The customer's later events do not change earlier answers.
        try world.submit([AnyFact.facts(history)], by: .store)
        #expect(
            submission.outcomes(repeating: own, in: world.customer(anna)) == outcomes,
            "seed \(seed)")
    }
}
