import Core
import Histories
import Testing

@Suite("Random lives in Google Play")
struct PlayLifeTests {
    @Test("Any order of the readings gives the same purchases, and what the page says")
    func lives() {
        let seed = printedSeed(of: "lives in Google Play")
        for offset in 0..<60 as Range<UInt64> {
            let readings = PlayLife(seed: seed &+ offset).readings
            var random = SeededGenerator(seed: seed &+ offset)
            let state = CustomerState(recording: readings.map { facts([$0]) }, catalog: playShop)
            for _ in 0..<3 {
                let late = readings.shuffled(using: &random)
                let order = late + late.prefix(late.count / 2)
                let other = CustomerState(recording: order.map { facts([$0]) }, catalog: playShop)
                if other.purchases != state.purchases {
                    Issue.record("seed \(seed &+ offset): the purchases differ by order")
                    return
                }
            }
            if let difference = difference(state, readings) {
                Issue.record("seed \(seed &+ offset): \(difference)\n\(text(readings))")
                return
            }
        }
    }

    @Test("Some of the readings alone mean what the page says of these")
    func lost() {
        let seed = printedSeed(of: "lost readings")
        for offset in 0..<60 as Range<UInt64> {
            var random = SeededGenerator(seed: seed &+ offset)
            let all = PlayLife(seed: seed &+ offset).readings
            let some = Array(all.shuffled(using: &random).prefix(max(1, all.count / 2)))
            let state = CustomerState(recording: some.map { facts([$0]) }, catalog: playShop)
            if let difference = difference(state, some) {
                Issue.record("seed \(seed &+ offset): \(difference)\n\(text(some))")
                return
            }
        }
    }

    private func difference(
        _ state: CustomerState, _ readings: [TransactionFact]
    ) -> String? {
        let naive = NaiveReadings(readings)
        for moment in naive.moments.flatMap({ [$0.advanced(byMilliseconds: -1), $0] }) {
            let answer = state.entitlements(at: moment, catalog: playShop)
            for product in ["plus", "pro", "extra"] {
                let expected = naive.gives(product, at: moment)
                let found = answer[id(product)]?.isActive ?? false
                if expected != found {
                    return "\(product) at \(moment.text) is \(found), and should be \(expected)"
                }
            }
        }
        return nil
    }

    private func text(_ readings: [TransactionFact]) -> String {
        readings.sorted { $0.signedAt < $1.signedAt }.map { fact in
            let items = fact.reading?.items.map { item in
                "\(item.product) \(item.order?.text ?? "-") to \(item.expires?.text ?? "-")"
            }
            let started = fact.reading?.startedAt?.text ?? "-"
            return "\(fact.signedAt.text) \(fact.reading?.token ?? "") from \(started) "
                + "\(fact.reading?.state.name ?? "") \(items?.joined(separator: ", ") ?? "")"
        }.joined(separator: "\n")
    }
}
