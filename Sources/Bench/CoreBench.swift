import Core
import JSON

/// Measures only the rules, without IO and on a single thread. The best of several rounds counts,
/// because other work on the machine can only add time.
func benchCore(json: Bool) -> Int32 {
    let customer = LongCustomer()
    let figures = [customer.measureDerivation(), customer.measureFold()]
    if json {
        print(JSON.array(figures.map(\.json)).text)
    } else {
        for figure in figures { print(figure.line) }
    }
    return figures.allSatisfy(\.isMet) ? 0 : 1
}

/// A measurement and its target.
struct Figure {
    let name: String
    let value: Double
    let unit: String
    let bar: Double
    let isLowerBetter: Bool

    var isMet: Bool { isLowerBetter ? value <= bar : value >= bar }

    var json: JSON {
        [
            "name": .string(name), "value": .decimal("\(value)"), "unit": .string(unit),
            "baseline": .null, "ratio": .null, "bar": .decimal("\(bar)"), "met": .bool(isMet),
        ]
    }

    var line: String {
        "\(name): \(value) \(unit), bar \(bar) \(unit): \(isMet ? "met" : "missed")"
    }
}

/// A customer with 20 subscriptions of 24 periods each, which unlock 10 entitlements.
private struct LongCustomer {
    static let purchases = 20
    static let periods = 24
    static let month: Int64 = 30 * 86_400_000
    let catalog: Catalog
    let events: [Event]
    let state: CustomerState

    init() {
        do {
            catalog = try LongCustomer.catalog()
            var facts = Facts()
            for purchase in 0..<LongCustomer.purchases {
                for period in 0..<LongCustomer.periods {
                    facts.transactions.append(try LongCustomer.fact(purchase, period))
                }
                facts.renewals.append(try LongCustomer.renewal(purchase))
            }
            events = CustomerState().decide(RecordFacts(facts, catalog: catalog))
            var state = CustomerState()
            for event in events { state.apply(event) }
            self.state = state
        } catch {
            preconditionFailure("the bench is wrong: \(error)")
        }
    }

    private static func catalog() throws -> Catalog {
        var draft = CatalogDraft()
        for purchase in 0..<purchases {
            draft.products.append(
                Product(
                    key: ProductKey(store: .apple, id: try product(purchase)),
                    terms: .autoRenewable(group: "group\(purchase / 2)", level: 1),
                    entitlements: [try EntitlementID("entitlement\(purchase / 2)")]))
        }
        return try draft.validated()
    }

    private static func product(_ purchase: Int) throws -> ProductID {
        try ProductID("com.example.game.subscription.\(purchase)")
    }

    private static func original(_ purchase: Int) throws -> TransactionID {
        try TransactionID("2000000\(100_000_000 + purchase * 1_000)")
    }

    private static func fact(_ purchase: Int, _ period: Int) throws -> TransactionFact {
        let start = Instant(milliseconds: 1_700_000_000_000 + Int64(period) * month)
        var fact = TransactionFact(
            store: .apple, environment: .production, app: try AppID("com.example.game"),
            transaction: try TransactionID("2000000\(100_000_000 + purchase * 1_000 + period)"),
            original: try original(purchase), product: try product(purchase), purchased: start,
            signedAt: start, rank: .notification)
        fact.kind = .autoRenewable
        fact.expires = start.advanced(byMilliseconds: month)
        fact.accountToken = "6f0a4f0e-8a0e-4b43-9f5d-0d1b6c0f8a11"
        fact.price = Price(milliunits: 4_990, currency: "EUR")
        return fact
    }

    private static func renewal(_ purchase: Int) throws -> RenewalFact {
        RenewalFact(
            store: .apple, environment: .production, app: try AppID("com.example.game"),
            original: try original(purchase), willRenew: true,
            signedAt: Instant(milliseconds: 1_700_000_000_000 + Int64(periods) * month),
            rank: .notification)
    }

    func measureDerivation() -> Figure {
        let now = Instant(milliseconds: 1_700_000_000_000 + 20 * LongCustomer.month + 1)
        let seconds = bestOf(rounds: 20, repetitions: 500) {
            state.entitlements(at: now, catalog: catalog).active.count == 10
        }
        return Figure(
            name: "core.derive", value: seconds * 1e6, unit: "us", bar: 20, isLowerBetter: true)
    }

    func measureFold() -> Figure {
        let seconds = bestOf(rounds: 20, repetitions: 50) {
            var state = CustomerState()
            for event in events { state.apply(event) }
            return state.version == Int64(events.count)
        }
        return Figure(
            name: "core.fold", value: Double(events.count) / seconds, unit: "events/s",
            bar: 1_000_000, isLowerBetter: false)
    }

    /// Returns the number of seconds per repetition in the fastest round.
    private func bestOf(rounds: Int, repetitions: Int, _ work: () -> Bool) -> Double {
        let clock = ContinuousClock()
        let times = (0..<rounds).map { _ in
            clock.measure {
                for _ in 0..<repetitions { precondition(work(), "the bench is wrong") }
            }
        }
        return (times.min() ?? .zero) / .seconds(1) / Double(repetitions)
    }
}
