package import Core

/// The lives of customers, as described in a file.
package struct Scenario: Codable, Sendable {
    package struct Life: Codable, Sendable {
        package struct Moment: Sendable {
            /// The time since the scenario's beginning.
            package let at: Wait
            package let step: Step
        }
        package var customer: String
        package var steps: [Moment]
    }

    package var title: String
    /// The time at which the test clock starts; the store's current time if it is missing.
    package var start: Instant?
    package var trouble: Trouble?
    package var lives: [Life]
    /// How long the scenario lasts.
    package var until: Wait
    /// The expected state of each customer's purchases at the end of the scenario, by product.
    package var expect: [String: [String: String]]?

    package init(_ bytes: [UInt8]) throws(PracticeError) {
        self = try readStrictly(bytes)
        let steps = lives.flatMap(\.steps).map(\.step)
        if let mistake = trouble?.mistake ?? steps.lazy.compactMap(\.mistake).first {
            throw .invalid(mistake)
        }
    }
}

extension Scenario {
    fileprivate static func tooLate(_ member: String, _ wait: Wait) -> String {
        "\(member) is \(quoted(wait.text)), which is after the year 9999, the last that Deed supports"
    }
}

extension Scenario.Life.Moment: Codable {
    private enum CodingKeys: String, CodingKey {
        case at
    }

    package init(from decoder: any Decoder) throws {
        at = try decoder.container(keyedBy: CodingKeys.self).decode(Wait.self, forKey: .at)
        step = try Step(from: decoder)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(at, forKey: .at)
        try step.encode(to: encoder)
    }
}

extension PracticeWorld {
    /// Schedules a scenario's steps, and returns the instant at which it ends.
    package mutating func plan(_ scenario: Scenario) throws(PracticeError) -> Instant {
        if let start = scenario.start {
            guard start >= now else {
                throw .refused(
                    "the scenario begins at \(start.text), but the clock is at \(now.text)")
            }
            if nextDue == nil, clockOffset == nil { now = start }
        }
        if let trouble = scenario.trouble { make(trouble) }
        let start = max(now, scenario.start ?? now)
        var steps: [(at: Instant, step: Step)] = []
        for life in scenario.lives {
            for moment in life.steps {
                let at = pace.end(of: moment.at, after: start)
                if at.isAfterDates { throw .invalid(Scenario.tooLate("at", moment.at)) }
                steps.append(
                    (at, moment.step.changed { $0.customer = $0.customer ?? life.customer }))
            }
        }
        let end = pace.end(of: scenario.until, after: start)
        if end.isAfterDates { throw .invalid(Scenario.tooLate("until", scenario.until)) }
        plan(steps)
        return end
    }
}

extension PracticeWorld {
    /// Returns the scenario's unmet expectations, as sentences.
    package func unmet(_ scenario: Scenario) -> [String] {
        (scenario.expect ?? [:]).sorted { $0.key < $1.key }.flatMap { customer, products in
            var found: [String: String] = [:]
            for standing in standings(of: customer) { found[standing.product] = standing.word }
            return Set(products.keys).union(found.keys).sorted().compactMap { product in
                let (wanted, word) = (
                    products[product] ?? "not bought", found[product] ?? "not bought"
                )
                return wanted == word ? nil : "\(product) of \(customer) is \(word), not \(wanted)"
            }
        }
    }
}
