/// The pauses between attempts to send a message.
package struct RetryPlan: Sendable {
    package static let usual = RetryPlan(
        seconds: [5, 30, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400])

    let pauses: [Int64]

    package init(seconds: [Int64]) {
        pauses = seconds.map { $0 * 1000 }
    }

    /// Parses a list like `5,30,300`; `nil` unless it consists of 1 to 20 numbers of seconds, each at most a week.
    package init?(_ text: String) {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false).map { Int64($0) }
        let numbers = parts.compactMap(\.self)
        guard numbers.count == parts.count, (1...20).contains(numbers.count),
            numbers.allSatisfy({ (1...604_800).contains($0) })
        else { return nil }
        self.init(seconds: numbers)
    }

    /// The sum of all pauses.
    var whole: Int64 { pauses.reduce(0, +) }

    /// The longest pause, with its random variation.
    var longest: Int64 { (pauses.max() ?? 0) * 11 / 10 }

    /// Returns the pause after this many failed attempts, randomly varied by up to a tenth; `nil` after the last
    /// attempt.
    func pause(after attempts: Int64, chance: Double = .random(in: -0.1...0.1)) -> Int64? {
        guard attempts >= 1, attempts <= pauses.count else { return nil }
        let pause = pauses[Int(attempts) - 1]
        return pause + Int64(Double(pause) * chance)
    }
}
