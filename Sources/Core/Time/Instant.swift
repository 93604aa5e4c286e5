/// A point in time: milliseconds since 1970-01-01T00:00:00Z. An instant is always passed as an
/// argument, never read from a clock.
package struct Instant: Hashable, Comparable, Sendable {
    package let milliseconds: Int64

    package init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    package static func < (one: Instant, other: Instant) -> Bool {
        one.milliseconds < other.milliseconds
    }

    /// Returns the instant this many milliseconds later, clamped to the range of `Instant` so that it cannot overflow.
    package func advanced(byMilliseconds amount: Int64) -> Instant {
        let (sum, overflow) = milliseconds.addingReportingOverflow(amount)
        if overflow { return amount > 0 ? .distantFuture : .distantPast }
        return Instant(milliseconds: sum)
    }

    package static let distantPast = Instant(milliseconds: .min)
    package static let distantFuture = Instant(milliseconds: .max)
}
