import Core
import Histories
import Testing

/// Plays random histories of a person with three ids that are merged and unmerged.
@Suite("Random histories of merged customers")
struct MergeHistoryTests {
    private static let batchSize: UInt64 = 200
    private static let momentLimit = 6
    private static let ids: [CustomerID] = ["m-anon", "m-phone", "m-tablet"].map { id($0) }

    private enum Step: Sendable {
        case fact(AnyFact, Submission.Bearer)
        case merge(CustomerID, CustomerID)
        case undo(CustomerID)
        case spend(Int64, CustomerID)
    }

    @Test(
        "Any order of the facts before, between and after gives the person the same rights",
        arguments: Array(0..<10 as Range<UInt64>))
    func converges(batch: UInt64) throws {
        for seed in (0..<Self.batchSize).map({ 20_261_127 + batch * Self.batchSize + $0 }) {
            let facts = RandomHistory(seed: seed).facts
            let model = NaiveModel(products: naiveBazaar, facts: AnyFact.facts(facts))
            var random = SeededGenerator(seed: seed ^ 0x3E46E)
            for turn in 0..<2 {
                var world = World(catalog: bazaar)
                var spent: Int64 = 0
                for step in steps(facts, &random) {
                    spent += try take(step, in: &world)
                    if let wrong = wrongInParts(world, spent) {
                        Issue.record("seed \(seed), turn \(turn), after \(step): \(wrong)")
                        return
                    }
                }
                try gather(&world)
                if let wrong = difference(world, model, spent: spent, &random) {
                    Issue.record("seed \(seed), turn \(turn): \(wrong)")
                    return
                }
            }
        }
    }

    /// Returns the facts in any order, sent by any of the ids or the store. Repeats some of them,
    /// and puts merges and undone merges between them.
    private func steps(_ facts: [AnyFact], _ random: inout SeededGenerator) -> [Step] {
        var steps: [Step] = (facts + facts.prefix(facts.count / 3)).map { fact in
            if case .app = fact { return .fact(fact, .customer(anyone(&random))) }
            if case .consent = fact { return .fact(fact, .customer(anyone(&random))) }
            return .fact(fact, random.chance(30) ? .store : .customer(anyone(&random)))
        }
        for _ in 0..<random.number(2...6) {
            switch random.number(0...4) {
            case 0...1: steps.append(.merge(anyone(&random), anyone(&random)))
            case 2...3: steps.append(.undo(anyone(&random)))
            default: steps.append(.spend(random.number(1...150), anyone(&random)))
            }
        }
        return steps.shuffled(using: &random)
    }

    private func anyone(_ random: inout SeededGenerator) -> CustomerID {
        Self.ids[Int(random.number(0...2))]
    }

    /// Takes the step if the rules allow it. Returns how many coins it spent.
    private func take(_ step: Step, in world: inout World) throws -> Int64 {
        do throws(Refusal) {
            switch step {
            case .fact(let fact, let bearer):
                // A back end uses the id from Deed's earlier answer.
                let sender = bearer.customer.map { world.customer($0).mergedInto ?? $0 }
                try world.submit(
                    [AnyFact.facts([fact])], by: sender.map { .customer($0) } ?? .store)
            case .merge(let from, let into): try world.merge(from, into: into)
            case .undo(let from): try world.undoMerge(of: from)
            case .spend(let amount, let customer):
                let customer = world.customer(customer).mergedInto ?? customer
                try world.spend(amount, of: customer)
                return amount
            }
        } catch {
            switch error {
            case .merge, .customerMerged, .customerUnknown, .balance(.insufficient): return 0
            default: throw error
            }
        }
        return 0
    }

    /// Returns what a merge changed by mistake: each purchase must keep one holder, and no coins
    /// may appear or disappear.
    private func wrongInParts(_ world: World, _ spent: Int64) -> String? {
        var holders: [PurchaseID: CustomerID] = [:]
        for (customer, state) in world.states {
            if state.mergedInto != nil, !state.purchases.isEmpty || !state.tokens.isEmpty {
                return "\(customer) is merged and has something"
            }
            for purchase in state.purchases {
                if let other = holders.updateValue(customer, forKey: purchase.id) {
                    return "\(purchase.id) is with \(other) and \(customer)"
                }
            }
        }
        return nil
    }

    /// Merges all ids into one customer, who claims every unclaimed purchase.
    private func gather(_ world: inout World) throws {
        let last: CustomerID = id("m-all")
        for customer in Self.ids {
            if world.customer(customer).version == 0 { continue }
            if world.customer(customer).mergedInto == nil { try world.merge(customer, into: last) }
        }
        let waiting = world.holders.filter { $0.value.isReserved }.keys.sorted()
        for purchase in waiting {
            let keeper = world.customer(.unclaimed(purchase))
            let fact = keeper.purchase(purchase)?.evidence.first?.effective
            if let fact {
                try world.submit([Histories.facts([fact])], by: .customer(last))
            } else if let news = keeper.purchase(purchase)?.renewal {
                try world.submit([Histories.facts(renewals: [news])], by: .customer(last))
            }
        }
    }

    private func difference(
        _ world: World, _ model: NaiveModel, spent: Int64, _ random: inout SeededGenerator
    ) -> String? {
        let state = world.customer(id("m-all"))
        for (currency, amount) in model.balances() {
            let expected = currency == "coins" ? amount - spent : amount
            if state.balance(currency) != expected {
                return "\(currency): \(state.balance(currency)), by the model \(expected)"
            }
        }
        let sources = model.sources()
        let moments = NaiveModel.moments(sources)
        let timelines = NaiveModel.timelines(sources)
        let some = moments.shuffled(using: &random).prefix(Self.momentLimit)
        for moment in some.enumerated().map({ $1 + Int64($0 % 3) - 1 }) {
            let answer = state.entitlements(
                at: Instant(milliseconds: moment), catalog: bazaar)
            let core = Dictionary(
                uniqueKeysWithValues: answer.all.map { ($0.id.text, NaiveModel.Answer($0)) })
            let naive = timelines.mapValues { NaiveModel.answer($0, at: moment) }
            if core != naive { return "core  \(core)\nmodel \(naive)" }
        }
        return nil
    }
}
