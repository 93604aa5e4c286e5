import Core
import Histories
import Testing

@Suite("Who holds purchases, in random histories")
struct NamedHolderOrderTests {
    private static let count = ConvergenceTests.count / 5
    private static let batchSize = 200
    private static let history = TokenHistory("h", from: at(0))

    @Test(
        "In any order of evidence, tokens and admins, the right customer holds a purchase",
        arguments: 0..<count / batchSize)
    func holders(batch: Int) throws {
        try compare(batch) { Self.history.acts(&$0) }
    }

    @Test(
        "So does one of merged customers, and after an undo the one of the two who is right",
        arguments: 0..<count / batchSize)
    func mergedHolders(batch: Int) throws {
        try compare(batch) { Self.history.actsWithMerges(&$0) }
    }

    private func compare(
        _ batch: Int, _ make: (inout SeededGenerator) -> [TokenAct]
    ) throws {
        let first = ConvergenceTests.firstSeed + UInt64(batch * Self.batchSize)
        for seed in first..<first + UInt64(Self.batchSize) {
            var random = SeededGenerator(seed: seed)
            let rules = (0..<2).map { _ in
                TransferPolicy.Rule.allCases[Int(random.number(0...2))]
            }
            let acts = make(&random)
            guard try fault(acts, rules) != nil else { continue }
            let shrunk = shrink(acts) { (try? fault($0, rules)) != .some(nil) }
            Issue.record(
                """
                seed \(seed), \(rules): \(try fault(shrunk, rules) ?? "")
                \(shrunk.map(\.description).joined(separator: "\n"))
                """)
            return
        }
    }

    /// Returns the first difference from the expected holders, or `nil` if there is none.
    private func fault(_ acts: [TokenAct], _ rules: [TransferPolicy.Rule]) throws -> String? {
        // The monthly purchases are in their second month.
        let start = at(40)
        var world = World(settings: ProjectSettings(transfer: rules[0], restore: rules[1]))
        world.now = start
        // An unknown customer cannot be merged.
        for person in Self.history.people { world.give("g-\(person)", "pro", to: person, days: 1) }
        var plain = PlainHolders(
            transfer: rules[0], restore: rules[1], credited: [id("coins")], from: start)
        for act in acts {
            let isDone = plain.take(act)
            if try world.take(act) != isDone { return "\(act): \(isDone ? "" : "not ")refused" }
            if !plain.misplaced.isEmpty { return "\(act): \(plain.misplaced) must be elsewhere" }
            for (purchase, expected) in plain.holders {
                let holder = world.holders[purchase]
                if holder != expected ?? .unclaimed(purchase) {
                    let (found, right) = (holder?.text ?? "-", expected?.text ?? "no one")
                    return "\(act): \(purchase) is with \(found), not \(right)"
                }
                let others = Self.history.people.filter {
                    world.customer($0).purchase(purchase) != nil
                }
                if others != [expected].compactMap(\.self) { return "\(purchase): \(others)" }
            }
        }
        return nil
    }
}

extension World {
    /// Performs the act. Returns false if it is refused.
    fileprivate mutating func take(_ act: TokenAct) throws -> Bool {
        switch act {
        case .evidence(let fact, let bearer):
            if bearer.customer.map({ customer($0).mergedInto != nil }) ?? false { return false }
            try submit([Histories.facts([fact])], by: bearer)
        case .news(let fact): try submit([Histories.facts(renewals: [fact])], by: .store)
        case .registered(let token, let person):
            if customer(person).mergedInto != nil { return false }
            if let owner = tokens[token.text] { return owner == person }
            try register(token.text, for: person)
        case .merged(let person, let other):
            do throws(Refusal) { try merge(person, into: other) } catch { return false }
        case .parted(let person):
            do throws(Refusal) { try undoMerge(of: person) } catch { return false }
        case .moved(let purchase, let person):
            if customer(person).mergedInto != nil { return false }
            do throws(Refusal) {
                try move(purchase, to: person)
            } catch {
                return false
            }
        case .movedBack(let purchase):
            guard let holder = holders[purchase],
                customer(holder).purchase(purchase)?.arrival?.from.isReserved == false
            else { return false }
            do throws(Refusal) { try moveBack(purchase) } catch { return false }
        case .waits(let hours): now = now.advanced(byMilliseconds: hours * hour)
        }
        return true
    }
}
