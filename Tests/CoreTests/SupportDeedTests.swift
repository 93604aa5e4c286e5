import Core
import Histories
import Testing

/// Plays random histories with acts of support: blocks, and grants of all kinds, with changes and revocations.
@Suite("Random histories with what support does")
struct SupportDeedTests {
    private static let batchSize: UInt64 = 250
    private static let momentLimit = 10

    @Test(
        "Any order of the facts around the same deeds gives the same answers",
        arguments: Array(0..<16 as Range<UInt64>))
    func converges(batch: UInt64) {
        for seed in (0..<Self.batchSize).map({ 20_261_125 + batch * Self.batchSize + $0 }) {
            let facts = RandomHistory(seed: seed).facts
            var random = SeededGenerator(seed: seed ^ 0xDEED)
            let deeds = someDeeds(facts, &random)
            guard difference(facts, deeds, seed) != nil else { continue }
            let fewer = shrink(deeds) { difference(facts, $0, seed) != nil }
            let shrunk = shrink(facts) { difference($0, fewer, seed) != nil }
            Issue.record(
                """
                seed \(seed): \(difference(shrunk, fewer, seed) ?? "")
                \(shrunk.map(\.description).joined(separator: "\n"))
                \(fewer.map { "\($0)" }.joined(separator: "\n"))
                """)
            return
        }
    }

    private func difference(
        _ facts: [AnyFact], _ deeds: [SupportDeed], _ seed: UInt64
    ) -> String? {
        var random = SeededGenerator(seed: seed)
        let ordered = lived(facts, deeds, &random, isLate: true)
        let disordered = lived(facts.shuffled(using: &random), deeds, &random, isLate: false)
        if ordered.purchases != disordered.purchases { return "the purchases differ by order" }
        let model = NaiveModel(
            products: naiveBazaar, facts: AnyFact.facts(facts),
            deeds: deeds.filter { isPossible($0, facts) })
        for currency in ["coins", "gems"] {
            let (one, other) = (ordered.balance(currency), disordered.balance(currency))
            let naive = model.balances()[currency] ?? 0
            if one != naive || other != naive {
                return "\(currency): \(one) or \(other) by order, by the model \(naive)"
            }
        }
        let sources = model.sources()
        let moments = NaiveModel.moments(sources)
        let timelines = NaiveModel.timelines(sources)
        let some = moments.shuffled(using: &random).prefix(Self.momentLimit)
        for moment in some.enumerated().map({ $1 + Int64($0 % 3) - 1 }) {
            let naive = timelines.mapValues { NaiveModel.answer($0, at: moment) }
            for state in [ordered, disordered] {
                let instant = Instant(milliseconds: moment)
                let answer = state.entitlements(at: instant, catalog: bazaar)
                let core = Dictionary(
                    uniqueKeysWithValues: answer.all.map { ($0.id.text, NaiveModel.Answer($0)) })
                if core != naive {
                    return "at day \(Double(moment - at(0).milliseconds) / Double(day)):\n"
                        + "core  \(core)\nmodel \(naive)"
                }
            }
        }
        return nil
    }

    /// Returns whether the act is possible. An unknown purchase cannot be blocked.
    private func isPossible(_ deed: SupportDeed, _ facts: [AnyFact]) -> Bool {
        guard case .block(let original, _) = deed else {
            guard case .unblock(let original, _) = deed else { return true }
            return isPossible(.block(original, since: 0), facts)
        }
        return facts.contains { fact in
            if case .transaction(let fact) = fact { fact.original.text == original } else { false }
        }
    }

    /// Returns the state after facts and acts, folded from their events. Each act comes as soon as
    /// it is possible, or all acts come last.
    private func lived(
        _ facts: [AnyFact], _ deeds: [SupportDeed], _ random: inout SeededGenerator, isLate: Bool
    ) -> CustomerState {
        var state = CustomerState()
        var waiting = deeds[...]
        for fact in facts {
            state.record(AnyFact.facts([fact]), catalog: bazaar)
            while !isLate, let next = waiting.first, random.chance(50), state.takes(next) {
                state.obey(next)
                waiting.removeFirst()
            }
        }
        for deed in waiting where state.takes(deed) { state.obey(deed) }
        return state
    }

    // MARK: Deeds

    private func someDeeds(
        _ facts: [AnyFact], _ random: inout SeededGenerator
    ) -> [SupportDeed] {
        var deeds: [SupportDeed] = []
        for number in 0..<random.number(0...4) {
            let name = "g\(number)"
            let entitlement = ["pro", "solo", "ad_free", "level2", "season"][
                Int(random.number(0...4))]
            let start = at(random.number(-2...30)).milliseconds
            if random.chance(50) {
                deeds.append(
                    .waitingGrant(
                        name, to: entitlement, since: start, days: random.number(1...12)))
                if random.chance(20) {
                    deeds.append(.changeLength(name, days: random.number(1...20)))
                }
            } else {
                let end = random.chance(80) ? start + random.number(1...12) * day : nil
                deeds.append(.grant(name, to: entitlement, from: start, until: end))
            }
            if random.chance(20) {
                let end = random.chance(80) ? start + random.number(1...20) * day : nil
                deeds.append(.change(name, until: end))
            }
            if random.chance(20) {
                deeds.append(.revoke(name, at: start + random.number(0...9) * day))
            }
        }
        let originals = Set(
            facts.compactMap { fact -> String? in
                if case .transaction(let fact) = fact { fact.original.text } else { nil }
            }
        ).sorted()
        for original in originals where random.chance(60) {
            var moment = random.number(-1...20)
            for _ in 0..<random.number(1...2) {
                deeds.append(.block(original, since: at(moment).milliseconds))
                if random.chance(40) { break }
                moment += random.number(1...6)
                deeds.append(.unblock(original, at: at(moment).milliseconds))
                moment += random.number(0...4)
            }
        }
        return deeds
    }
}

extension CustomerState {
    fileprivate func takes(_ deed: SupportDeed) -> Bool {
        switch deed {
        case .block(let original, _), .unblock(let original, _):
            purchases.contains { $0.id == purchaseID(original) && !$0.evidence.isEmpty }
        default: true
        }
    }

    fileprivate mutating func obey(_ deed: SupportDeed) {
        let reason: Reason = id("asked")
        func instant(_ milliseconds: Int64) -> Instant { Instant(milliseconds: milliseconds) }
        func change(_ name: String, _ end: Int64?, _ lasts: Int64?) -> Event {
            .grantChanged(
                GrantChanged(
                    grant: id(name), entitlement: id("any"), end: end.map(instant),
                    lasts: lasts.map { .days($0) }, reason: reason, ticket: nil))
        }
        switch deed {
        case .grant(let name, let entitlement, let start, let end):
            apply(
                .grantGiven(
                    GrantGiven(
                        grant: id(name), entitlement: id(entitlement), start: instant(start),
                        end: end.map(instant), reason: reason, ticket: nil)))
        case .waitingGrant(let name, let entitlement, let since, let days):
            apply(
                .grantGiven(
                    GrantGiven(
                        grant: id(name), entitlement: id(entitlement), start: instant(since),
                        end: nil, afterCurrent: .days(days), reason: reason, ticket: nil)))
        case .change(let name, let end): apply(change(name, end, nil))
        case .changeLength(let name, let days): apply(change(name, nil, days))
        case .revoke(let name, let moment):
            apply(
                .grantRevoked(
                    GrantRevoked(
                        grant: id(name), entitlement: id("any"), at: instant(moment),
                        reason: reason, ticket: nil)))
        case .block(let original, let moment): decide(original, true, instant(moment))
        case .unblock(let original, let moment): decide(original, false, instant(moment))
        }
    }

    private mutating func decide(_ original: String, _ isToHold: Bool, _ now: Instant) {
        let wish = BlockPurchase(
            purchaseID(original), isToHold: isToHold, reason: id("asked"), ticket: nil)
        // Shrinking the history may have removed the block.
        for event in (try? decide(wish, by: bazaar, now: now)) ?? [] { apply(event) }
    }
}
