import Core
import Foundation
import Histories
import Testing

@Suite("Random histories")
struct ConvergenceTests {
    /// The number of histories. An environment variable can change it, as well as the seed.
    static let count = setting("DEED_TEST_HISTORIES") ?? 10_000
    static let firstSeed = UInt64(setting("DEED_TEST_SEED") ?? 20_261_120)
    static let batchSize = 500
    static let momentLimit = 8
    static let batches = Array(0..<count / batchSize)

    private static func setting(_ name: String) -> Int? {
        ProcessInfo.processInfo.environment[name].flatMap(Int.init)
    }

    @Test(
        "Any order, repetition and delay of a history gives the same answers",
        arguments: batches)
    func converges(batch: Int) {
        let first = Self.firstSeed + UInt64(batch * Self.batchSize)
        for seed in first..<first + UInt64(Self.batchSize) {
            // Every other history has periods of seconds, as in the sandbox.
            let facts = RandomHistory(seed: seed).facts
            let history = seed % 2 == 0 ? facts : facts.map(\.hurried)
            guard difference(history, seed) != nil else { continue }
            let part = Array(history.shuffled(by: seed).prefix(history.count * 2 / 3))
            let start = difference(part, seed) == nil ? history : part
            let shrunk = shrink(start) { difference($0, seed) != nil }
            Issue.record(
                """
                seed \(seed): \(difference(shrunk, seed) ?? "")
                \(shrunk.map(\.description).joined(separator: "\n"))
                """)
            return
        }
    }

    /// Returns how the answers about these facts are wrong, or `nil` if they are right.
    private func difference(_ history: [AnyFact], _ seed: UInt64) -> String? {
        var random = SeededGenerator(seed: seed)
        let ordered = recorded(history.map { [$0] })
        let late = history.shuffled(by: seed)
        let disordered = recorded(evidence(late + late.prefix(late.count / 2), &random))
        if ordered.purchases != disordered.purchases { return "the purchases differ by order" }
        if ordered.apps != disordered.apps { return "the installations differ by order" }
        if ordered.appTransactions != disordered.appTransactions {
            return "the accounts differ by order"
        }
        // Holds back some of the facts until all others have arrived.
        let some = AnyFact.facts(late.prefix(late.count * 2 / 3))
        let partly = recorded([Array(late.prefix(late.count * 2 / 3))])
        return balanceDifference(ordered, disordered)
            ?? modelDifference(partly, NaiveModel(products: naiveBazaar, facts: some), seed)
            ?? modelDifference(
                disordered, NaiveModel(products: naiveBazaar, facts: AnyFact.facts(history)), seed)
    }

    /// Returns the state after the evidence, folded only from the events.
    private func recorded(_ evidence: [[AnyFact]]) -> CustomerState {
        var state = CustomerState()
        var events: [Event] = []
        for facts in evidence {
            events += state.record(AnyFact.facts(facts), catalog: bazaar)
        }
        var folded = CustomerState()
        for event in events { folded.apply(event) }
        return folded
    }

    /// Returns the facts in pieces of evidence of one to three facts each.
    private func evidence(
        _ facts: [AnyFact], _ random: inout SeededGenerator
    ) -> [[AnyFact]] {
        var rest = facts[...]
        var evidence: [[AnyFact]] = []
        while !rest.isEmpty {
            let count = Int(random.number(1...3))
            evidence.append(Array(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        return evidence
    }

    private func balanceDifference(_ one: CustomerState, _ other: CustomerState) -> String? {
        for currency in ["coins", "gems"] where one.balance(currency) != other.balance(currency) {
            return "\(currency): \(one.balance(currency)) or \(other.balance(currency)) by order"
        }
        return nil
    }

    private func modelDifference(
        _ state: CustomerState, _ model: NaiveModel, _ seed: UInt64
    ) -> String? {
        for (currency, amount) in model.balances() where state.balance(currency) != amount {
            return "\(currency): \(state.balance(currency)), by the model \(amount)"
        }
        let open = Set(state.purchases.flatMap(\.openRefundRequests).map(\.id.text))
        if open != model.openRefundRequests() {
            return "asked for: \(open), by the model \(model.openRefundRequests())"
        }
        let consents = state.consents.map { ($0.id.text, $0.signedAt.milliseconds) }
        if Dictionary(uniqueKeysWithValues: consents) != model.consents() {
            return "consents: \(consents), by the model \(model.consents())"
        }
        let accounts = Set(model.facts.apps.compactMap(\.appTransaction))
        if !accounts.isSubset(of: state.appTransactions) {
            return "accounts: \(state.appTransactions), by the model \(accounts)"
        }
        let sources = model.sources()
        let moments = NaiveModel.moments(sources)
        let timelines = NaiveModel.timelines(sources)
        // Just before, at, or just after some of the boundaries. Which ones depends on the seed.
        let some = moments.shuffled(by: seed).prefix(Self.momentLimit)
        for moment in some.enumerated().map({ $1 + Int64($0 % 3) - 1 }) {
            let instant = Instant(milliseconds: moment)
            let answer = state.entitlements(at: instant, catalog: bazaar)
            let naive = timelines.mapValues { NaiveModel.answer($0, at: moment) }
            let core = Dictionary(
                uniqueKeysWithValues: answer.all.map { ($0.id.text, NaiveModel.Answer($0)) })
            if core != naive {
                return "at day \(Double(moment - at(0).milliseconds) / Double(day)):\n"
                    + "core  \(core)\nmodel \(naive)"
            }
            if answer.nextChange?.milliseconds != moments.first(where: { $0 > moment }) {
                return changeDifference(answer, state, moments)
            }
        }
        return nil
    }

    /// Returns a change before the announced instant, or `nil` if there is none. A longer right may hide a boundary.
    private func changeDifference(
        _ answer: Entitlements, _ state: CustomerState, _ moments: [Int64]
    ) -> String? {
        let next = answer.nextChange ?? .distantFuture
        for moment in moments where moment > answer.at.milliseconds && moment < next.milliseconds {
            let then = state.entitlements(at: Instant(milliseconds: moment), catalog: bazaar)
            if then.all != answer.all { return "it changes at \(moment), not first at \(next)" }
        }
        return nil
    }
}

extension Array {
    fileprivate func shuffled(by seed: UInt64) -> [Element] {
        var random = SeededGenerator(seed: seed)
        return shuffled(using: &random)
    }
}

/// Returns the smallest part of a failing history that still fails. Leaves out one fact after another.
func shrink<Element>(_ history: [Element], while fails: ([Element]) -> Bool) -> [Element] {
    var smallest = history
    var index = 0
    while index < smallest.count {
        var shorter = smallest
        shorter.remove(at: index)
        if fails(shorter) {
            smallest = shorter
            index = 0
        } else {
            index += 1
        }
    }
    return smallest
}
