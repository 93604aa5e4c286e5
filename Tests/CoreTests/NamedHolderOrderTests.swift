import Core
import Histories
import Testing

/// Something that happens to purchases and tokens.
private enum Act: Sendable, CustomStringConvertible {
    case evidence(TransactionFact, Submission.Bearer)
    case registered(Int)
    case waits(days: Int64)

    var description: String {
        switch self {
        case .evidence(let fact, let bearer):
            "\(fact.original)/\(fact.transaction) \(fact.accountToken?.suffix(2) ?? "-") by \(bearer)"
        case .registered(let person): "token of \(person)"
        case .waits(let days): "\(days) days"
        }
    }
}

@Suite("Purchases with tokens, in random histories")
struct NamedHolderOrderTests {
    private static let count = ConvergenceTests.count / 5
    private static let batchSize = 200
    private static let people: [CustomerID] = (0..<4).map { id("person-\($0)") }
    private static let tokens = (0..<5).map {
        AccountToken(random: [UInt8](repeating: UInt8($0), count: 16)).text
    }

    @Test(
        "In whatever order evidence and tokens come, the one whom the tokens name has the purchase",
        arguments: 0..<count / batchSize)
    func named(batch: Int) throws {
        let first = ConvergenceTests.firstSeed + UInt64(batch * Self.batchSize)
        for seed in first..<first + UInt64(Self.batchSize) {
            var random = SeededGenerator(seed: seed)
            let rule = TransferPolicy.Rule.allCases[Int(random.number(0...2))]
            let acts = acts(&random)
            guard try fault(acts, rule) != nil else { continue }
            let shrunk = shrink(acts) { (try? fault($0, rule)) != .some(nil) }
            Issue.record(
                """
                seed \(seed), \(rule): \(try fault(shrunk, rule) ?? "")
                \(shrunk.map(\.description).joined(separator: "\n"))
                """)
            return
        }
    }

    /// Three purchases with a token on some of their transactions, which anybody brings, in any order and
    /// again; and tokens that become known meanwhile. The last token never does.
    private func acts(_ random: inout SeededGenerator) -> [Act] {
        var acts: [Act] = []
        for (number, product) in ["pro", "level2", "gold"].enumerated() {
            for month in 0..<random.number(1...4) {
                let token = random.chance(60) ? Self.tokens[Int(random.number(0...4))] : nil
                for statement in 0..<random.number(1...3) {
                    var fact = transaction(
                        "\(number)-\(month)", of: "\(number)-0", product, kind(of: product),
                        at(month * 30), signed: at(month * 30 + statement))
                    if product == "pro" { fact.expires = at(month * 30 + 30) }
                    // Not each statement about a transaction tells of it.
                    if random.chance(70) { fact.accountToken = token }
                    acts.append(.evidence(fact, bearer(&random)))
                }
            }
        }
        for person in Self.people.indices where random.chance(80) {
            acts.append(.registered(person))
        }
        for _ in 0..<3 { acts.append(.waits(days: random.number(1...20))) }
        return acts.shuffled(using: &random)
    }

    private func kind(of product: String) -> ProductKind {
        switch product {
        case "pro": .autoRenewable
        case "level2": .nonConsumable
        default: .consumable
        }
    }

    private func bearer(_ random: inout SeededGenerator) -> Submission.Bearer {
        let person = Self.people[Int(random.number(0...3))]
        return switch random.number(0...3) {
        case 0: .store
        case 1: .restorer(person)
        default: .customer(person)
        }
    }

    /// What is wrong at some moment of it.
    private func fault(_ acts: [Act], _ rule: TransferPolicy.Rule) throws -> String? {
        var world = World(settings: ProjectSettings(transfer: rule))
        var facts: [TransactionFact] = []
        for act in acts {
            switch act {
            case .evidence(let fact, let bearer):
                try world.submit([Histories.facts([fact])], by: bearer)
                facts.append(fact)
            case .registered(let person):
                try world.register(Self.tokens[person], for: Self.people[person])
            case .waits(let days):
                world.now = world.now.advanced(byMilliseconds: days * 86_400_000)
            }
            for (purchase, holder) in world.holders {
                let named = named(facts.filter { $0.purchase == purchase }, rule, world.tokens)
                if let named, named != holder {
                    return "\(purchase) is with \(holder), not \(named)"
                }
                let others = Self.people.filter { world.customer($0).purchase(purchase) != nil }
                if others != [holder].filter({ !$0.isReserved }) { return "\(purchase): \(others)" }
            }
        }
        return nil
    }

    /// Whom they name, told as plainly as the page says it.
    private func named(
        _ facts: [TransactionFact], _ rule: TransferPolicy.Rule, _ owners: [String: CustomerID]
    ) -> CustomerID? {
        let inOrder = facts.sorted {
            ($0.purchased, $0.transaction) < ($1.purchased, $1.transaction)
        }
        let customers = inOrder.compactMap { $0.accountToken.flatMap { owners[$0] } }
        return rule == .keep ? customers.first : customers.last
    }
}
